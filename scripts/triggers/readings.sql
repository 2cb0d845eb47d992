-- Progress. The latest event has the book's current page. POST /books/{book-id}/progress inserts its event before it updates
-- the book, so that this adds no second one. A lower page is a correction, unless the last event is of an earlier reading.

CREATE TRIGGER books_progressed AFTER UPDATE OF currentPage, bookStatus ON books
WHEN NEW.currentPage <> OLD.currentPage
  OR (
    NEW.bookStatus = 'DONE' AND OLD.bookStatus <> 'DONE'
    -- Not if readings/newest.ts moves the book to another reading, or stops the reading.
    AND NEW.newestReadingId IS OLD.newestReadingId
    AND (
      NEW.readingVersion = OLD.readingVersion
      OR (SELECT outcome FROM readings WHERE readingId = NEW.newestReadingId) = 'FINISHED'
    )
  )
BEGIN
  INSERT INTO progress (memberId, bookId, at, page, kind, total)
  SELECT NEW.memberId, NEW.bookId,
    max(CAST(unixepoch('subsec') * 1000 AS INTEGER), coalesce(latest.at + 1, 0)),
    NEW.currentPage,
    iif(
      NEW.bookStatus = 'DONE' AND OLD.bookStatus <> 'DONE', 'FINISHED',
      NEW.currentPage > OLD.currentPage
        OR (NEW.bookStatus = 'ING' AND OLD.bookStatus <> 'ING')
        OR coalesce((SELECT createdAt FROM readings WHERE readingId = NEW.newestReadingId), 0) > coalesce(max(latest.at, 0), 0),
      'PROGRESS',
      'CORRECTION'
    ),
    coalesce(latest.total, 0) + 1
  FROM (SELECT 1)
  LEFT JOIN (
    SELECT at, page, total FROM progress
    WHERE memberId = NEW.memberId AND bookId = NEW.bookId ORDER BY at DESC LIMIT 1
  ) AS latest
  WHERE latest.page IS NOT NEW.currentPage OR NEW.currentPage = OLD.currentPage;
END;

-- An event before the latest one: total is kept in the latest. Above the limit, progress_limited sets it.
CREATE TRIGGER progress_added_late AFTER INSERT ON progress
WHEN NEW.total <= 10000
  AND EXISTS (SELECT 1 FROM progress WHERE memberId = NEW.memberId AND bookId = NEW.bookId AND at > NEW.at)
BEGIN
  UPDATE progress
  SET total = NEW.total
  WHERE memberId = NEW.memberId AND bookId = NEW.bookId
    AND at = (SELECT max(at) FROM progress WHERE memberId = NEW.memberId AND bookId = NEW.bookId);
END;

-- Among the oldest 1,000 events, keeps only the last one of each UTC day, and those that are FINISHED. If there are still too
-- many, deletes the oldest.
CREATE TRIGGER progress_limited AFTER INSERT ON progress
WHEN NEW.total > 10000
BEGIN
  DELETE FROM progress
  WHERE memberId = NEW.memberId AND bookId = NEW.bookId AND kind <> 'FINISHED' AND at IN (
    SELECT at FROM (
      SELECT at, lead(at) OVER (ORDER BY at) AS next
      FROM (SELECT at FROM progress WHERE memberId = NEW.memberId AND bookId = NEW.bookId ORDER BY at LIMIT 1000)
    )
    WHERE next / 86400000 = at / 86400000
  );

  UPDATE progress
  SET total = NEW.total - changes()
  WHERE memberId = NEW.memberId AND bookId = NEW.bookId
    AND at = (SELECT max(at) FROM progress WHERE memberId = NEW.memberId AND bookId = NEW.bookId);

  DELETE FROM progress
  WHERE memberId = NEW.memberId AND bookId = NEW.bookId
    AND at = (SELECT min(at) FROM progress WHERE memberId = NEW.memberId AND bookId = NEW.bookId)
    AND (SELECT total FROM progress WHERE memberId = NEW.memberId AND bookId = NEW.bookId ORDER BY at DESC LIMIT 1) > 10000;

  UPDATE progress
  SET total = total - changes()
  WHERE memberId = NEW.memberId AND bookId = NEW.bookId
    AND at = (SELECT max(at) FROM progress WHERE memberId = NEW.memberId AND bookId = NEW.bookId)
    AND changes() > 0;
END;

-- Readings. This trigger applies changes of a book to its newest reading. readings/newest.ts applies changes of a reading to
-- its book; it also increments readingVersion, so that the trigger skips its updates.
--
-- Another reading begins if the book is read again, or is DONE after YET with other dates than those of the newest reading. A
-- date that the update does not change and that another reading has belongs to that one: began and ended are the book's dates
-- without these. While the book is YET, its dates belong to no reading.
CREATE TRIGGER books_newest_reading_changed AFTER UPDATE OF bookStatus, readStartDate, readEndDate, star ON books
WHEN NEW.newestReadingId IS OLD.newestReadingId AND NEW.readingVersion = OLD.readingVersion
  AND iif(
    NEW.newestReadingId IS NULL, OLD.bookStatus = 'DONE' AND NEW.bookStatus <> 'DONE',
    (NEW.bookStatus, NEW.readStartDate, NEW.readEndDate, NEW.star)
      IS NOT (OLD.bookStatus, OLD.readStartDate, OLD.readEndDate, OLD.star)
  )
BEGIN
  -- A finished book without rows leaves DONE: its reading gets a row.
  INSERT INTO readings (readingId, memberId, bookId, createdAt, startedAt, finishedAt, outcome, quarters)
  SELECT
    OLD.bookId, OLD.memberId, OLD.bookId, 0,
    substr(OLD.readStartDate, 1, 10), substr(OLD.readEndDate, 1, 10), 'FINISHED',
    nullif(iif(NEW.bookStatus = 'YET', NEW.star, OLD.star) * 4, 0)
  WHERE NEW.newestReadingId IS NULL;

  INSERT INTO readings (readingId, memberId, bookId, createdAt, startedAt, finishedAt, outcome, quarters)
  SELECT
    1 + max(
      ((NEW.bookId >> 40) << 40) + (1 << 39),
      coalesce((SELECT max(readingId) FROM readings WHERE readingId < ((NEW.bookId >> 40) + 1) << 40), 0),
      coalesce((SELECT id FROM retiredIds WHERE tableName = 'readings'), 0)
    ),
    NEW.memberId, NEW.bookId, CAST(unixepoch('subsec') * 1000 AS INTEGER),
    iif(NEW.readStartDate IS OLD.readStartDate AND began = startedAt, NULL, began),
    iif(NEW.bookStatus = 'DONE', ended, NULL),
    iif(NEW.bookStatus = 'DONE', 'FINISHED', NULL),
    iif(NEW.star <> OLD.star, nullif(NEW.star * 4, 0), NULL)
  FROM (
    SELECT startedAt, finishedAt, outcome,
      iif(
        NEW.readStartDate IS OLD.readStartDate AND startedAt IS NOT substr(NEW.readStartDate, 1, 10)
          AND substr(NEW.readStartDate, 1, 10) IN (
            SELECT startedAt FROM readings WHERE memberId = NEW.memberId AND bookId = NEW.bookId
          ),
        NULL,
        substr(NEW.readStartDate, 1, 10)
      ) AS began,
      iif(
        NEW.readEndDate IS OLD.readEndDate AND finishedAt IS NOT substr(NEW.readEndDate, 1, 10)
          AND substr(NEW.readEndDate, 1, 10) IN (
            SELECT finishedAt FROM readings WHERE memberId = NEW.memberId AND bookId = NEW.bookId
          ),
        NULL,
        substr(NEW.readEndDate, 1, 10)
      ) AS ended
    FROM readings
    WHERE readingId = coalesce(NEW.newestReadingId, NEW.bookId) AND outcome IS NOT NULL
  )
  WHERE (NEW.bookStatus = 'ING' OR (NEW.bookStatus = 'DONE' AND OLD.bookStatus = 'YET'))
    -- Resumed: put back to YET while it was being read.
    AND NOT (
      outcome = 'STOPPED' AND finishedAt IS NULL
      AND (startedAt IS NULL OR iif(length(startedAt) = 10, startedAt, NULL) IS began)
    )
    -- DONE again as before: put back to YET after it had ended.
    AND NOT (NEW.bookStatus = 'DONE' AND outcome = 'STOPPED' AND NEW.readEndDate IS NULL AND finishedAt IS NOT NULL)
    AND NOT (NEW.bookStatus = 'DONE' AND outcome <> 'STOPPED' AND iif(length(finishedAt) = 10, finishedAt, NULL) IS ended)
    AND (SELECT count(*) FROM readings WHERE memberId = NEW.memberId AND bookId = NEW.bookId) < 200;

  UPDATE books
  SET newestReadingId = (SELECT max(readingId) FROM readings WHERE memberId = NEW.memberId AND bookId = NEW.bookId)
  WHERE bookId = NEW.bookId
    AND (changes() = 1 OR newestReadingId IS NULL);

  UPDATE readings
  SET startedAt = iif(
      NEW.bookStatus = 'YET' OR (NEW.readStartDate IS OLD.readStartDate AND OLD.bookStatus <> 'YET'), startedAt,
      NEW.readStartDate IS NULL OR (
        NEW.readStartDate IS OLD.readStartDate AND startedAt IS NOT substr(NEW.readStartDate, 1, 10)
        AND substr(NEW.readStartDate, 1, 10) IN (
          SELECT startedAt FROM readings WHERE memberId = NEW.memberId AND bookId = NEW.bookId
        )
      ), (SELECT startedAt WHERE length(startedAt) < 10),
      substr(NEW.readStartDate, 1, 10)
    ),
    finishedAt = iif(
      NEW.bookStatus = 'ING', NULL,
      NEW.bookStatus = 'YET' OR (NEW.readEndDate IS OLD.readEndDate AND OLD.bookStatus = 'DONE')
        OR (NEW.readEndDate IS NULL AND outcome = 'STOPPED'), finishedAt,
      NEW.readEndDate IS NULL OR (
        NEW.readEndDate IS OLD.readEndDate AND finishedAt IS NOT substr(NEW.readEndDate, 1, 10)
        AND substr(NEW.readEndDate, 1, 10) IN (
          SELECT finishedAt FROM readings WHERE memberId = NEW.memberId AND bookId = NEW.bookId
        )
      ), (SELECT finishedAt WHERE length(finishedAt) < 10),
      substr(NEW.readEndDate, 1, 10)
    ),
    outcome = iif(
      NEW.bookStatus = 'ING', NULL,
      NEW.bookStatus = 'YET', coalesce(outcome, 'STOPPED'),
      NEW.readEndDate IS NULL AND outcome = 'STOPPED' AND (OLD.bookStatus = 'DONE' OR finishedAt IS NOT NULL), 'STOPPED',
      'FINISHED'
    ),
    quarters = iif(
      NEW.star = OLD.star OR NEW.star = coalesce(max(1, (quarters + 2) / 4), 0), quarters,
      nullif(NEW.star * 4, 0)
    ),
    isPaused = isPaused AND NEW.bookStatus = 'ING'
  WHERE readingId = NEW.newestReadingId
    AND (NEW.bookStatus <> 'YET' OR OLD.bookStatus <> 'YET' OR NEW.star <> OLD.star)
    AND (SELECT newestReadingId FROM books WHERE bookId = NEW.bookId) = NEW.newestReadingId;
END;
