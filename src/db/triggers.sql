-- The triggers of migrations/0000_library.sql, formatted and explained. This file is for reading only: the migration
-- creates them, each on one line, because remote D1 splits a migration on semicolons (cloudflare/workers-sdk issues 14991
-- and 15690). test/features/database.test.ts compares this file with the triggers of a migrated database.
--
-- They run in the transaction of the write itself, and for rows deleted by a cascade too.

-- Book counters of a member: the totals of /books/library, /books/calender and /books/memo-books.

CREATE TRIGGER books_counted_in AFTER INSERT ON books
BEGIN
  UPDATE members
  SET yetBooks = yetBooks + (NEW.bookStatus = 'YET'),
    ingBooks = ingBooks + (NEW.bookStatus = 'ING'),
    doneBooks = doneBooks + (NEW.bookStatus = 'DONE'),
    finishedBooks = finishedBooks + (NEW.bookStatus = 'DONE' AND NEW.readEndDate IS NOT NULL)
  WHERE memberId = NEW.memberId;
END;

CREATE TRIGGER books_counted_out AFTER DELETE ON books
BEGIN
  UPDATE members
  SET yetBooks = yetBooks - (OLD.bookStatus = 'YET'),
    ingBooks = ingBooks - (OLD.bookStatus = 'ING'),
    doneBooks = doneBooks - (OLD.bookStatus = 'DONE'),
    finishedBooks = finishedBooks - (OLD.bookStatus = 'DONE' AND OLD.readEndDate IS NOT NULL),
    memoBooks = memoBooks - OLD.hasMemos
  WHERE memberId = OLD.memberId;
END;

-- Only if a counter changes: other updates of a book write no row of members.
CREATE TRIGGER books_recounted AFTER UPDATE OF bookStatus, readEndDate ON books
WHEN OLD.bookStatus <> NEW.bookStatus
  OR (OLD.readEndDate IS NULL) <> (NEW.readEndDate IS NULL)
BEGIN
  UPDATE members
  SET yetBooks = yetBooks - (OLD.bookStatus = 'YET') + (NEW.bookStatus = 'YET'),
    ingBooks = ingBooks - (OLD.bookStatus = 'ING') + (NEW.bookStatus = 'ING'),
    doneBooks = doneBooks - (OLD.bookStatus = 'DONE') + (NEW.bookStatus = 'DONE'),
    finishedBooks = finishedBooks
      - (OLD.bookStatus = 'DONE' AND OLD.readEndDate IS NOT NULL)
      + (NEW.bookStatus = 'DONE' AND NEW.readEndDate IS NOT NULL)
  WHERE memberId = NEW.memberId;
END;

-- Remembers the highest deleted identifier, so that none is reused. Unlike AUTOINCREMENT it writes a row only when the
-- newest book is deleted, not on every insert.
CREATE TRIGGER books_id_retired AFTER DELETE ON books
WHEN OLD.bookId > (SELECT coalesce(max(bookId), 0) FROM books)
BEGIN
  INSERT OR REPLACE INTO retiredIds (tableName, id)
  SELECT 'books', max(OLD.bookId, coalesce((SELECT id FROM retiredIds WHERE tableName = 'books'), 0));
END;

-- Memo counters of a book, and hasMemos, the condition of the partial index books_with_memos.

-- A further memo updates the book's row only; the first one also sets hasMemos, and so writes an index entry and the
-- member's memoBooks.
CREATE TRIGGER memos_counted_in AFTER INSERT ON memos
BEGIN
  UPDATE books
  SET memoCount = memoCount + 1,
    contentMemos = contentMemos + (NEW.memoType = 'BOOK_CONTENT'),
    summaryMemos = summaryMemos + (NEW.memoType = 'SUMMARY'),
    thoughtMemos = thoughtMemos + (NEW.memoType = 'THOUGHT'),
    questionMemos = questionMemos + (NEW.memoType = 'QUESTION')
  WHERE bookId = NEW.bookId
    AND hasMemos = 1;

  UPDATE members
  SET memoBooks = memoBooks + 1
  WHERE memberId = NEW.memberId
    AND (SELECT hasMemos FROM books WHERE bookId = NEW.bookId) = 0;

  UPDATE books
  SET memoCount = 1,
    contentMemos = (NEW.memoType = 'BOOK_CONTENT'),
    summaryMemos = (NEW.memoType = 'SUMMARY'),
    thoughtMemos = (NEW.memoType = 'THOUGHT'),
    questionMemos = (NEW.memoType = 'QUESTION'),
    hasMemos = 1
  WHERE bookId = NEW.bookId
    AND hasMemos = 0;
END;

-- Writes nothing while the book itself is being deleted, since its row is already gone.
CREATE TRIGGER memos_counted_out AFTER DELETE ON memos
BEGIN
  UPDATE members
  SET memoBooks = memoBooks - 1
  WHERE memberId = OLD.memberId
    AND (SELECT memoCount FROM books WHERE bookId = OLD.bookId) = 1;

  UPDATE books
  SET memoCount = 0,
    contentMemos = 0,
    summaryMemos = 0,
    thoughtMemos = 0,
    questionMemos = 0,
    hasMemos = 0
  WHERE bookId = OLD.bookId
    AND memoCount = 1;

  UPDATE books
  SET memoCount = memoCount - 1,
    contentMemos = contentMemos - (OLD.memoType = 'BOOK_CONTENT'),
    summaryMemos = summaryMemos - (OLD.memoType = 'SUMMARY'),
    thoughtMemos = thoughtMemos - (OLD.memoType = 'THOUGHT'),
    questionMemos = questionMemos - (OLD.memoType = 'QUESTION')
  WHERE bookId = OLD.bookId
    AND memoCount > 1;
END;

CREATE TRIGGER memos_recounted AFTER UPDATE OF memoType ON memos
WHEN OLD.memoType <> NEW.memoType
BEGIN
  UPDATE books
  SET contentMemos = contentMemos - (OLD.memoType = 'BOOK_CONTENT') + (NEW.memoType = 'BOOK_CONTENT'),
    summaryMemos = summaryMemos - (OLD.memoType = 'SUMMARY') + (NEW.memoType = 'SUMMARY'),
    thoughtMemos = thoughtMemos - (OLD.memoType = 'THOUGHT') + (NEW.memoType = 'THOUGHT'),
    questionMemos = questionMemos - (OLD.memoType = 'QUESTION') + (NEW.memoType = 'QUESTION')
  WHERE bookId = NEW.bookId;
END;

-- Keeps the positions of a member's memos at 1 … n, for the random memo: the last memo takes the deleted one's position.
-- Skipped when the member itself was deleted.
CREATE TRIGGER memos_hole_filled AFTER DELETE ON memos
WHEN EXISTS (SELECT 1 FROM members WHERE memberId = OLD.memberId)
BEGIN
  UPDATE memos
  SET position = OLD.position
  WHERE memberId = OLD.memberId
    AND position > OLD.position
    AND position = (SELECT max(position) FROM memos WHERE memberId = OLD.memberId);
END;

-- Like books_id_retired.
CREATE TRIGGER memos_id_retired AFTER DELETE ON memos
WHEN OLD.memoId > (SELECT coalesce(max(memoId), 0) FROM memos)
BEGIN
  INSERT OR REPLACE INTO retiredIds (tableName, id)
  SELECT 'memos', max(OLD.memoId, coalesce((SELECT id FROM retiredIds WHERE tableName = 'memos'), 0));
END;
