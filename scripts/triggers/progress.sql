-- Progress. The latest event has the book's current page. POST /books/{book-id}/progress inserts its event before it updates
-- the book, so that this adds no second one. A lower page is a correction, unless the last event is of an earlier reading.

CREATE TRIGGER books_progressed AFTER UPDATE OF currentPage, bookStatus ON books
WHEN NEW.currentPage <> OLD.currentPage
  OR (
    NEW.bookStatus = 'DONE' AND OLD.bookStatus <> 'DONE' AND NOT NEW.isStopped
    -- Not if another reading becomes the current one, nor if an import finishes it, or the undo of one.
    AND coalesce(NEW.readingId, NEW.bookId) = coalesce(OLD.readingId, OLD.bookId)
    AND NEW.importId IS OLD.importId
  )
BEGIN
  INSERT INTO progress (memberId, bookId, at, page, kind, total, seconds)
  SELECT NEW.memberId, NEW.bookId,
    max(CAST(unixepoch('subsec') * 1000 AS INTEGER), coalesce(latest.at + 1, 0)),
    NEW.currentPage,
    iif(
      NEW.bookStatus = 'DONE' AND OLD.bookStatus <> 'DONE', 'FINISHED',
      NEW.currentPage > OLD.currentPage
        OR (NEW.bookStatus = 'ING' AND OLD.bookStatus <> 'ING')
        OR NEW.readingSince > coalesce(max(latest.at, 0), 0),
      'PROGRESS',
      'CORRECTION'
    ),
    coalesce(latest.total, 0) + 1,
    iif(NEW.currentPage = OLD.currentPage, latest.seconds, null)
  FROM (SELECT 1)
  LEFT JOIN (
    SELECT at, page, total, seconds FROM progress
    WHERE memberId = NEW.memberId AND bookId = NEW.bookId ORDER BY at DESC LIMIT 1
  ) AS latest
  WHERE latest.page IS NOT NEW.currentPage OR NEW.currentPage = OLD.currentPage;
END;

-- The three triggers below may run in any order. `total` is kept in the latest event, and each update of it counts the price.
-- The events of a restored book are inserted in order, with what they had: the book has their price already.

CREATE TRIGGER progress_added_late AFTER INSERT ON progress
WHEN EXISTS (SELECT 1 FROM progress WHERE memberId = NEW.memberId AND bookId = NEW.bookId AND at > NEW.at)
BEGIN
  UPDATE progress
  SET total = total + 1
  WHERE memberId = NEW.memberId AND bookId = NEW.bookId
    AND at = (SELECT max(at) FROM progress WHERE memberId = NEW.memberId AND bookId = NEW.bookId);
END;

CREATE TRIGGER progress_added_twentieth AFTER INSERT ON progress
WHEN NEW.total % :PRICED_ROWS = 0 AND :IS_NOT_RESTORED
BEGIN
  UPDATE progress
  SET total = total
  WHERE memberId = NEW.memberId AND bookId = NEW.bookId
    AND at = (SELECT max(at) FROM progress WHERE memberId = NEW.memberId AND bookId = NEW.bookId);
END;

-- Above the limit of a book, and at each twentieth event if the member is full: among the oldest 1,000 events, keeps only the last
-- one of each UTC day, and those that are FINISHED or have minutes; if there are none to delete, deletes the oldest.
CREATE TRIGGER progress_limited AFTER INSERT ON progress
WHEN (NEW.total > :MAX_EVENTS
    OR (NEW.total % :PRICED_ROWS = 0 AND EXISTS (
      SELECT 1 FROM members WHERE memberId = NEW.memberId AND textBytes > coalesce(maxTextBytes, :MAX_MEMBER_TEXT_BYTES)
    ))
  ) AND :IS_NOT_RESTORED
BEGIN
  DELETE FROM progress
  WHERE memberId = NEW.memberId AND bookId = NEW.bookId AND kind <> 'FINISHED' AND minutes IS NULL AND at IN (
    SELECT at FROM (
      SELECT at, lead(at) OVER (ORDER BY at) AS next
      FROM (SELECT at FROM progress WHERE memberId = NEW.memberId AND bookId = NEW.bookId ORDER BY at LIMIT 1000)
    )
    WHERE next / 86400000 = at / 86400000
  );

  UPDATE progress
  SET total = total - changes()
  WHERE memberId = NEW.memberId AND bookId = NEW.bookId
    AND at = (SELECT max(at) FROM progress WHERE memberId = NEW.memberId AND bookId = NEW.bookId)
    AND changes() > 0;

  DELETE FROM progress
  WHERE memberId = NEW.memberId AND bookId = NEW.bookId
    AND at = (SELECT min(at) FROM progress WHERE memberId = NEW.memberId AND bookId = NEW.bookId)
    AND changes() = 0;

  UPDATE progress
  SET total = total - changes()
  WHERE memberId = NEW.memberId AND bookId = NEW.bookId
    AND at = (SELECT max(at) FROM progress WHERE memberId = NEW.memberId AND bookId = NEW.bookId)
    AND changes() > 0;
END;
