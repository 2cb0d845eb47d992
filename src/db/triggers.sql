-- The triggers of the migrated database, formatted and explained. This file is for reading only: the migrations
-- create them, each on one line, because remote D1 splits a migration on semicolons (cloudflare/workers-sdk issues 14991
-- and 15690). test/features/database.test.ts compares this file with the triggers of a migrated database.
--
-- They run in the transaction of the write itself, and for rows deleted by a cascade too.

-- The purge of a withdrawn member deletes rows in batches. It needs no counters, so the triggers on deletion skip it.

-- Counters of a member: the totals of /books/library, /books/calender and /books/memo-books, and the bytes of all texts.

CREATE TRIGGER books_counted_in AFTER INSERT ON books
BEGIN
  UPDATE members
  SET yetBooks = yetBooks + (NEW.bookStatus = 'YET'),
    ingBooks = ingBooks + (NEW.bookStatus = 'ING'),
    doneBooks = doneBooks + (NEW.bookStatus = 'DONE'),
    finishedBooks = finishedBooks + (NEW.bookStatus = 'DONE' AND NEW.readEndDate IS NOT NULL),
    textBytes = textBytes + octet_length(concat(NEW.title, NEW.cover, NEW.author, NEW.publisher))
  WHERE memberId = NEW.memberId;
END;

CREATE TRIGGER books_counted_out AFTER DELETE ON books
BEGIN
  UPDATE members
  SET yetBooks = yetBooks - (OLD.bookStatus = 'YET'),
    ingBooks = ingBooks - (OLD.bookStatus = 'ING'),
    doneBooks = doneBooks - (OLD.bookStatus = 'DONE'),
    finishedBooks = finishedBooks - (OLD.bookStatus = 'DONE' AND OLD.readEndDate IS NOT NULL),
    memoBooks = memoBooks - OLD.hasMemos,
    textBytes = textBytes - OLD.memoBytes - octet_length(concat(OLD.title, OLD.cover, OLD.author, OLD.publisher))
  WHERE memberId = OLD.memberId
    AND withdrawnAt IS NULL;
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

CREATE TRIGGER books_resized AFTER UPDATE OF title, cover, author, publisher ON books
WHEN octet_length(concat(NEW.title, NEW.cover, NEW.author, NEW.publisher))
  <> octet_length(concat(OLD.title, OLD.cover, OLD.author, OLD.publisher))
BEGIN
  UPDATE members
  SET textBytes = textBytes + octet_length(concat(NEW.title, NEW.cover, NEW.author, NEW.publisher))
    - octet_length(concat(OLD.title, OLD.cover, OLD.author, OLD.publisher))
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

-- Memo counters of a book, and hasMemos, which the index books_with_memos is on.

-- A further memo updates the book's row and the member's; the first one also sets hasMemos, and so writes an index entry.
CREATE TRIGGER memos_counted_in AFTER INSERT ON memos
BEGIN
  UPDATE members
  SET textBytes = textBytes + octet_length(NEW.memoContent),
    memoBooks = memoBooks + ((SELECT hasMemos FROM books WHERE bookId = NEW.bookId) = 0)
  WHERE memberId = NEW.memberId;

  UPDATE books
  SET memoCount = memoCount + 1,
    contentMemos = contentMemos + (NEW.memoType = 'BOOK_CONTENT'),
    summaryMemos = summaryMemos + (NEW.memoType = 'SUMMARY'),
    thoughtMemos = thoughtMemos + (NEW.memoType = 'THOUGHT'),
    questionMemos = questionMemos + (NEW.memoType = 'QUESTION'),
    memoBytes = memoBytes + octet_length(NEW.memoContent)
  WHERE bookId = NEW.bookId
    AND hasMemos = 1;

  UPDATE books
  SET memoCount = 1,
    contentMemos = (NEW.memoType = 'BOOK_CONTENT'),
    summaryMemos = (NEW.memoType = 'SUMMARY'),
    thoughtMemos = (NEW.memoType = 'THOUGHT'),
    questionMemos = (NEW.memoType = 'QUESTION'),
    memoBytes = octet_length(NEW.memoContent),
    hasMemos = 1
  WHERE bookId = NEW.bookId
    AND hasMemos = 0;
END;

-- Skipped while the book itself is being deleted, since its row is already gone.
CREATE TRIGGER memos_counted_out AFTER DELETE ON memos
WHEN EXISTS (SELECT 1 FROM books JOIN members USING (memberId) WHERE bookId = OLD.bookId AND withdrawnAt IS NULL)
BEGIN
  UPDATE members
  SET textBytes = textBytes - octet_length(OLD.memoContent),
    memoBooks = memoBooks - ((SELECT memoCount FROM books WHERE bookId = OLD.bookId) = 1)
  WHERE memberId = OLD.memberId;

  UPDATE books
  SET memoCount = 0,
    contentMemos = 0,
    summaryMemos = 0,
    thoughtMemos = 0,
    questionMemos = 0,
    memoBytes = 0,
    hasMemos = 0
  WHERE bookId = OLD.bookId
    AND memoCount = 1;

  UPDATE books
  SET memoCount = memoCount - 1,
    contentMemos = contentMemos - (OLD.memoType = 'BOOK_CONTENT'),
    summaryMemos = summaryMemos - (OLD.memoType = 'SUMMARY'),
    thoughtMemos = thoughtMemos - (OLD.memoType = 'THOUGHT'),
    questionMemos = questionMemos - (OLD.memoType = 'QUESTION'),
    memoBytes = memoBytes - octet_length(OLD.memoContent)
  WHERE bookId = OLD.bookId
    AND memoCount > 1;
END;

CREATE TRIGGER memos_resized AFTER UPDATE OF memoContent ON memos
WHEN octet_length(NEW.memoContent) <> octet_length(OLD.memoContent)
BEGIN
  UPDATE books
  SET memoBytes = memoBytes + octet_length(NEW.memoContent) - octet_length(OLD.memoContent)
  WHERE bookId = NEW.bookId;

  UPDATE members
  SET textBytes = textBytes + octet_length(NEW.memoContent) - octet_length(OLD.memoContent)
  WHERE memberId = NEW.memberId;
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
CREATE TRIGGER memos_hole_filled AFTER DELETE ON memos
WHEN EXISTS (SELECT 1 FROM members WHERE memberId = OLD.memberId AND withdrawnAt IS NULL)
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

-- Images of a member: their number and bytes.

CREATE TRIGGER images_counted_in AFTER INSERT ON images
BEGIN
  UPDATE members
  SET imageCount = imageCount + 1,
    imageBytes = imageBytes + NEW.bytes
  WHERE memberId = NEW.memberId;
END;

CREATE TRIGGER images_counted_out AFTER DELETE ON images
BEGIN
  UPDATE members
  SET imageCount = imageCount - 1,
    imageBytes = imageBytes - OLD.bytes
  WHERE memberId = OLD.memberId
    AND withdrawnAt IS NULL;
END;

-- Accounts: a member keeps the newest hundred sessions, the newest 500 failed logins, and the newest 500 other entries.

CREATE TRIGGER sessions_limited AFTER INSERT ON sessions
BEGIN
  DELETE FROM sessions
  WHERE memberId = NEW.memberId
    AND sessionId IN (SELECT sessionId FROM sessions WHERE memberId = NEW.memberId ORDER BY createdAt DESC LIMIT -1 OFFSET 100);
END;

CREATE TRIGGER activity_limited AFTER INSERT ON activity
BEGIN
  DELETE FROM activity
  WHERE memberId = NEW.memberId AND isFailedLogin = NEW.isFailedLogin AND entry <= NEW.entry - 500;
END;
