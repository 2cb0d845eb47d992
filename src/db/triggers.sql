-- Written by `npm run db -- generate` from scripts/triggers. The triggers run in the transaction of the write itself, and for
-- rows deleted by a cascade too. A migration has each on one line, because remote D1 splits it on semicolons
-- (cloudflare/workers-sdk issues 14991 and 15690). It also ends a trigger at the END of a CASE (issue 4727), hence iif, which
-- takes further conditions, each with its value, before the last value.

-- The purge of a withdrawn member deletes rows in batches. It needs no counters, so the triggers that count skip it. It deletes
-- changes and tags first (src/accounts/members/purge.ts), so that their triggers have nothing to write.

-- Counters of a member: the totals of /books/library, /books/calender and /books/memo-books, and the bytes of all texts.

CREATE TRIGGER books_counted_in AFTER INSERT ON books
BEGIN
  UPDATE members
  SET yetBooks = yetBooks + (NEW.bookStatus = 'YET'),
    ingBooks = ingBooks + (NEW.bookStatus = 'ING'),
    doneBooks = doneBooks + (NEW.bookStatus = 'DONE'),
    finishedBooks = finishedBooks + (NEW.bookStatus = 'DONE' AND NEW.readEndDate IS NOT NULL),
    undatedBooks = undatedBooks
      + (NEW.bookStatus = 'DONE' AND NEW.isStopped = 0 AND iif(NEW.bookStatus = 'DONE', coalesce(nullif(substr(NEW.readEndDate, 1, 10), NEW.archivedEnd), NEW.finishedAt), NULL) IS NULL),
    memoBooks = memoBooks + NEW.hasMemos,
    textBytes = textBytes
      + ((1500 + octet_length(concat(NEW.title, NEW.subtitle, NEW.cover, NEW.author, NEW.publisher, NEW.language, NEW.series, NEW.sourceIds, NEW.note)) + 3 * octet_length(concat(NEW.title)) + 1 * octet_length(concat(NEW.subtitle)) + 6 * octet_length(concat(NEW.author)) + 1 * octet_length(concat(NEW.publisher)) + 1 * octet_length(concat(NEW.series))) + NEW.memoBytes + 1300 * NEW.memoCount + 4000 * NEW.eventBlocks)
  WHERE memberId = NEW.memberId;
END;

-- Also deletes what has no foreign key (schema/book-tables.ts), once it is counted. For withdrawn members, the purge deletes
-- these rows first.
CREATE TRIGGER books_counted_out AFTER DELETE ON books
BEGIN
  UPDATE members
  SET yetBooks = yetBooks - (OLD.bookStatus = 'YET'),
    ingBooks = ingBooks - (OLD.bookStatus = 'ING'),
    doneBooks = doneBooks - (OLD.bookStatus = 'DONE'),
    finishedBooks = finishedBooks - (OLD.bookStatus = 'DONE' AND OLD.readEndDate IS NOT NULL),
    undatedBooks = undatedBooks
      - (OLD.bookStatus = 'DONE' AND OLD.isStopped = 0 AND iif(OLD.bookStatus = 'DONE', coalesce(nullif(substr(OLD.readEndDate, 1, 10), OLD.archivedEnd), OLD.finishedAt), NULL) IS NULL),
    memoBooks = memoBooks - OLD.hasMemos,
    textBytes = textBytes
      - ((1500 + octet_length(concat(OLD.title, OLD.subtitle, OLD.cover, OLD.author, OLD.publisher, OLD.language, OLD.series, OLD.sourceIds, OLD.note)) + 3 * octet_length(concat(OLD.title)) + 1 * octet_length(concat(OLD.subtitle)) + 6 * octet_length(concat(OLD.author)) + 1 * octet_length(concat(OLD.publisher)) + 1 * octet_length(concat(OLD.series))) + OLD.memoBytes + 1300 * OLD.memoCount + 4000 * OLD.eventBlocks + coalesce((
      SELECT sum((1300 + octet_length(concat(note)))) FROM readings WHERE memberId = OLD.memberId AND bookId = OLD.bookId
    ), 0) - coalesce((SELECT bytes FROM trash WHERE trashId = OLD.bookId), 0))
  WHERE memberId = OLD.memberId
    AND withdrawnAt IS NULL;

  DELETE FROM readings WHERE memberId = OLD.memberId AND bookId = OLD.bookId;

  DELETE FROM progress WHERE memberId = OLD.memberId AND bookId = OLD.bookId;

  DELETE FROM bookTags WHERE memberId = OLD.memberId AND bookId = OLD.bookId;
END;

-- Only if a counter changes: other updates of a book write no row of members.
CREATE TRIGGER books_recounted AFTER UPDATE OF bookStatus, readEndDate, finishedAt, isStopped, archivedEnd, readingId ON books
WHEN OLD.bookStatus <> NEW.bookStatus
  OR (OLD.readEndDate IS NULL) <> (NEW.readEndDate IS NULL)
  OR (NEW.bookStatus = 'DONE' AND NEW.isStopped = 0 AND iif(NEW.bookStatus = 'DONE', coalesce(nullif(substr(NEW.readEndDate, 1, 10), NEW.archivedEnd), NEW.finishedAt), NULL) IS NULL)
  <> (OLD.bookStatus = 'DONE' AND OLD.isStopped = 0 AND iif(OLD.bookStatus = 'DONE', coalesce(nullif(substr(OLD.readEndDate, 1, 10), OLD.archivedEnd), OLD.finishedAt), NULL) IS NULL)
  OR coalesce(NEW.readingId, NEW.bookId) <> coalesce(OLD.readingId, OLD.bookId)
BEGIN
  UPDATE members
  SET yetBooks = yetBooks - (OLD.bookStatus = 'YET') + (NEW.bookStatus = 'YET'),
    ingBooks = ingBooks - (OLD.bookStatus = 'ING') + (NEW.bookStatus = 'ING'),
    doneBooks = doneBooks - (OLD.bookStatus = 'DONE') + (NEW.bookStatus = 'DONE'),
    finishedBooks = finishedBooks
      - (OLD.bookStatus = 'DONE' AND OLD.readEndDate IS NOT NULL)
      + (NEW.bookStatus = 'DONE' AND NEW.readEndDate IS NOT NULL),
    undatedBooks = undatedBooks
      - (OLD.bookStatus = 'DONE' AND OLD.isStopped = 0 AND iif(OLD.bookStatus = 'DONE', coalesce(nullif(substr(OLD.readEndDate, 1, 10), OLD.archivedEnd), OLD.finishedAt), NULL) IS NULL)
      + (NEW.bookStatus = 'DONE' AND NEW.isStopped = 0 AND iif(NEW.bookStatus = 'DONE', coalesce(nullif(substr(NEW.readEndDate, 1, 10), NEW.archivedEnd), NEW.finishedAt), NULL) IS NULL),
    textBytes = textBytes + iif(
      coalesce(NEW.readingId, NEW.bookId) <> coalesce(OLD.readingId, OLD.bookId),
      coalesce((SELECT (1300 + octet_length(concat(note))) FROM readings WHERE readingId = coalesce(OLD.readingId, OLD.bookId)), 0),
      0
    )
  WHERE memberId = NEW.memberId;
END;

-- Not if the statement has set it, as that of PATCH does, nor if an import changes the status, or the undo of one.
CREATE TRIGGER books_status_changed AFTER UPDATE OF bookStatus ON books
WHEN NEW.bookStatus <> OLD.bookStatus AND NEW.activityAt IS OLD.activityAt AND NEW.importId IS OLD.importId
BEGIN
  UPDATE books
  SET activityAt = max(CAST(unixepoch('subsec') * 1000 AS INTEGER), coalesce(activityAt, 0))
  WHERE bookId = NEW.bookId;
END;

CREATE TRIGGER books_resized AFTER UPDATE OF title, subtitle, cover, author, publisher, language, series,
  sourceIds, note ON books
WHEN (octet_length(concat(NEW.title, NEW.subtitle, NEW.cover, NEW.author, NEW.publisher, NEW.language, NEW.series, NEW.sourceIds, NEW.note)) + 3 * octet_length(concat(NEW.title)) + 1 * octet_length(concat(NEW.subtitle)) + 6 * octet_length(concat(NEW.author)) + 1 * octet_length(concat(NEW.publisher)) + 1 * octet_length(concat(NEW.series)))
  <> (octet_length(concat(OLD.title, OLD.subtitle, OLD.cover, OLD.author, OLD.publisher, OLD.language, OLD.series, OLD.sourceIds, OLD.note)) + 3 * octet_length(concat(OLD.title)) + 1 * octet_length(concat(OLD.subtitle)) + 6 * octet_length(concat(OLD.author)) + 1 * octet_length(concat(OLD.publisher)) + 1 * octet_length(concat(OLD.series)))
BEGIN
  UPDATE members
  SET textBytes = textBytes
      - (octet_length(concat(OLD.title, OLD.subtitle, OLD.cover, OLD.author, OLD.publisher, OLD.language, OLD.series, OLD.sourceIds, OLD.note)) + 3 * octet_length(concat(OLD.title)) + 1 * octet_length(concat(OLD.subtitle)) + 6 * octet_length(concat(OLD.author)) + 1 * octet_length(concat(OLD.publisher)) + 1 * octet_length(concat(OLD.series)))
      + (octet_length(concat(NEW.title, NEW.subtitle, NEW.cover, NEW.author, NEW.publisher, NEW.language, NEW.series, NEW.sourceIds, NEW.note)) + 3 * octet_length(concat(NEW.title)) + 1 * octet_length(concat(NEW.subtitle)) + 6 * octet_length(concat(NEW.author)) + 1 * octet_length(concat(NEW.publisher)) + 1 * octet_length(concat(NEW.series)))
  WHERE memberId = NEW.memberId;
END;

-- Memo counters of a book, and hasMemos, which the index books_with_memos is on. Memos also count in the row of the member.

-- A further memo updates the book's row and the member's; the first one also sets hasMemos, and so writes an index entry. A
-- restored book is inserted with the numbers of its memos.
CREATE TRIGGER memos_counted_in AFTER INSERT ON memos
WHEN NEW.importId IS NULL AND NOT EXISTS (SELECT 1 FROM trash WHERE trashId = NEW.bookId)
BEGIN
  UPDATE members
  SET textBytes = textBytes + (1300 + octet_length(NEW.memoContent)),
    memoBooks = memoBooks + ((SELECT hasMemos FROM books WHERE bookId = NEW.bookId) = 0)
  WHERE memberId = NEW.memberId;

  UPDATE books
  SET memoCount = memoCount + 1,
    contentMemos = contentMemos + (NEW.memoType = 'BOOK_CONTENT'),
    summaryMemos = summaryMemos + (NEW.memoType = 'SUMMARY'),
    thoughtMemos = thoughtMemos + (NEW.memoType = 'THOUGHT'),
    questionMemos = questionMemos + (NEW.memoType = 'QUESTION'),
    memoBytes = memoBytes + octet_length(NEW.memoContent),
    lastMemoId = max(lastMemoId, NEW.memoId),
    activityAt = iif(
      EXISTS (SELECT 1 FROM trash WHERE trashId = -NEW.memoId), activityAt, max(CAST(unixepoch('subsec') * 1000 AS INTEGER), coalesce(activityAt, 0))
    )
  WHERE bookId = NEW.bookId
    AND hasMemos = 1;

  UPDATE books
  SET memoCount = 1,
    contentMemos = (NEW.memoType = 'BOOK_CONTENT'),
    summaryMemos = (NEW.memoType = 'SUMMARY'),
    thoughtMemos = (NEW.memoType = 'THOUGHT'),
    questionMemos = (NEW.memoType = 'QUESTION'),
    memoBytes = octet_length(NEW.memoContent),
    hasMemos = 1,
    lastMemoId = NEW.memoId,
    activityAt = iif(
      EXISTS (SELECT 1 FROM trash WHERE trashId = -NEW.memoId), activityAt, max(CAST(unixepoch('subsec') * 1000 AS INTEGER), coalesce(activityAt, 0))
    )
  WHERE bookId = NEW.bookId
    AND hasMemos = 0;
END;

CREATE TRIGGER memos_imported AFTER INSERT ON memos
WHEN NEW.importId IS NOT NULL AND NOT EXISTS (SELECT 1 FROM trash WHERE trashId = NEW.bookId)
BEGIN
  UPDATE members
  SET textBytes = textBytes + (1300 + octet_length(NEW.memoContent)),
    memoBooks = memoBooks + ((SELECT hasMemos FROM books WHERE bookId = NEW.bookId) = 0)
  WHERE memberId = NEW.memberId;

  UPDATE books
  SET memoCount = memoCount + 1,
    contentMemos = contentMemos + (NEW.memoType = 'BOOK_CONTENT'),
    summaryMemos = summaryMemos + (NEW.memoType = 'SUMMARY'),
    thoughtMemos = thoughtMemos + (NEW.memoType = 'THOUGHT'),
    questionMemos = questionMemos + (NEW.memoType = 'QUESTION'),
    memoBytes = memoBytes + octet_length(NEW.memoContent),
    lastMemoId = max(lastMemoId, NEW.memoId)
  WHERE bookId = NEW.bookId
    AND hasMemos = 1;

  UPDATE books
  SET memoCount = 1,
    contentMemos = (NEW.memoType = 'BOOK_CONTENT'),
    summaryMemos = (NEW.memoType = 'SUMMARY'),
    thoughtMemos = (NEW.memoType = 'THOUGHT'),
    questionMemos = (NEW.memoType = 'QUESTION'),
    memoBytes = octet_length(NEW.memoContent),
    hasMemos = 1,
    lastMemoId = NEW.memoId
  WHERE bookId = NEW.bookId
    AND hasMemos = 0;
END;

-- Skipped while the book itself is being deleted, since its row is already gone.
CREATE TRIGGER memos_counted_out AFTER DELETE ON memos
WHEN EXISTS (SELECT 1 FROM books JOIN members USING (memberId) WHERE bookId = OLD.bookId AND withdrawnAt IS NULL)
BEGIN
  UPDATE members
  SET textBytes = textBytes - (1300 + octet_length(OLD.memoContent)) + coalesce((SELECT bytes FROM trash WHERE trashId = -OLD.memoId), 0),
    memoBooks = memoBooks - ((SELECT memoCount FROM books WHERE bookId = OLD.bookId) = 1)
  WHERE memberId = OLD.memberId;

  UPDATE books
  SET memoCount = 0,
    contentMemos = 0,
    summaryMemos = 0,
    thoughtMemos = 0,
    questionMemos = 0,
    memoBytes = 0,
    hasMemos = 0,
    lastMemoId = NULL
  WHERE bookId = OLD.bookId
    AND memoCount = 1;

  UPDATE books
  SET memoCount = memoCount - 1,
    contentMemos = contentMemos - (OLD.memoType = 'BOOK_CONTENT'),
    summaryMemos = summaryMemos - (OLD.memoType = 'SUMMARY'),
    thoughtMemos = thoughtMemos - (OLD.memoType = 'THOUGHT'),
    questionMemos = questionMemos - (OLD.memoType = 'QUESTION'),
    memoBytes = memoBytes - octet_length(OLD.memoContent),
    lastMemoId = iif(lastMemoId = OLD.memoId, max(coalesce((SELECT max(memoId) FROM memos WHERE bookId = OLD.bookId AND memoType = 'BOOK_CONTENT'), 0),
      coalesce((SELECT max(memoId) FROM memos WHERE bookId = OLD.bookId AND memoType = 'SUMMARY'), 0),
      coalesce((SELECT max(memoId) FROM memos WHERE bookId = OLD.bookId AND memoType = 'THOUGHT'), 0),
      coalesce((SELECT max(memoId) FROM memos WHERE bookId = OLD.bookId AND memoType = 'QUESTION'), 0)), lastMemoId)
  WHERE bookId = OLD.bookId
    AND memoCount > 1;
END;

CREATE TRIGGER memos_resized AFTER UPDATE OF memoContent ON memos
WHEN octet_length(NEW.memoContent) <> octet_length(OLD.memoContent)
BEGIN
  UPDATE books
  SET memoBytes = memoBytes - octet_length(OLD.memoContent) + octet_length(NEW.memoContent)
  WHERE bookId = NEW.bookId;

  UPDATE members
  SET textBytes = textBytes - octet_length(OLD.memoContent) + octet_length(NEW.memoContent)
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

-- The bytes of the trash, which the triggers of books and memos have added.

CREATE TRIGGER trash_counted_out AFTER DELETE ON trash
BEGIN
  UPDATE members
  SET textBytes = textBytes - OLD.bytes
  WHERE memberId = OLD.memberId
    AND withdrawnAt IS NULL;

  DELETE FROM trashParts WHERE memberId = OLD.memberId AND bookId = OLD.trashId;
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

-- The file of reading statistics of a member: its bytes count as those of images, its sittings as rows.

CREATE TRIGGER statisticsFiles_counted_in AFTER INSERT ON statisticsFiles
BEGIN
  UPDATE members
  SET imageBytes = imageBytes + (NEW.bytes + NEW.missingBytes),
    textBytes = textBytes + 4000 * (NEW.sittings / 20)
  WHERE memberId = NEW.memberId;
END;

CREATE TRIGGER statisticsFiles_counted_out AFTER DELETE ON statisticsFiles
BEGIN
  UPDATE members
  SET imageBytes = imageBytes - (OLD.bytes + OLD.missingBytes),
    textBytes = textBytes - 4000 * (OLD.sittings / 20)
  WHERE memberId = OLD.memberId
    AND withdrawnAt IS NULL;
END;

CREATE TRIGGER statisticsFiles_recounted AFTER UPDATE OF bytes, missingBytes, sittings ON statisticsFiles
WHEN (NEW.bytes + NEW.missingBytes)
  <> (OLD.bytes + OLD.missingBytes)
  OR 4000 * (NEW.sittings / 20)
  <> 4000 * (OLD.sittings / 20)
BEGIN
  UPDATE members
  SET imageBytes = imageBytes - (OLD.bytes + OLD.missingBytes) + (NEW.bytes + NEW.missingBytes),
    textBytes = textBytes - 4000 * (OLD.sittings / 20) + 4000 * (NEW.sittings / 20)
  WHERE memberId = NEW.memberId;
END;

-- The number of idempotency keys of a member, which has a limit.

CREATE TRIGGER idempotencyKeys_counted_in AFTER INSERT ON idempotencyKeys
BEGIN
  UPDATE members
  SET keyCount = keyCount + 1
  WHERE memberId = NEW.memberId;
END;

CREATE TRIGGER idempotencyKeys_counted_out AFTER DELETE ON idempotencyKeys
BEGIN
  UPDATE members
  SET keyCount = keyCount - 1
  WHERE memberId = OLD.memberId
    AND withdrawnAt IS NULL;
END;

-- Prices of readings, of tags of books, and of progress events, which count as text of the member.

-- Of an archived reading, the price is counted once the book shows another one, with the counters of its status.
CREATE TRIGGER readings_counted_in AFTER INSERT ON readings
WHEN NOT EXISTS (
  SELECT 1 FROM books WHERE bookId = NEW.bookId AND memberId = NEW.memberId AND coalesce(readingId, bookId) = NEW.readingId
)
BEGIN
  UPDATE members
  SET textBytes = textBytes + (1300 + octet_length(concat(NEW.note)))
  WHERE memberId = NEW.memberId;
END;

-- Skipped while the book itself is being deleted.
CREATE TRIGGER readings_counted_out AFTER DELETE ON readings
WHEN EXISTS (SELECT 1 FROM books WHERE bookId = OLD.bookId)
BEGIN
  UPDATE members
  SET textBytes = textBytes - (1300 + octet_length(concat(OLD.note)))
  WHERE memberId = OLD.memberId
    AND withdrawnAt IS NULL;
END;

CREATE TRIGGER readings_resized AFTER UPDATE OF note ON readings
WHEN (1300 + octet_length(concat(NEW.note)))
  <> (1300 + octet_length(concat(OLD.note)))
BEGIN
  UPDATE members
  SET textBytes = textBytes - (1300 + octet_length(concat(OLD.note))) + (1300 + octet_length(concat(NEW.note)))
  WHERE memberId = NEW.memberId;
END;

-- Counts a further twenty, and none less until the tag is deleted: taking a tag from a book writes no row of members.
CREATE TRIGGER tags_priced AFTER UPDATE OF bookCount ON tags
WHEN (NEW.bookCount / 20) > NEW.blocks
BEGIN
  UPDATE members
  SET textBytes = textBytes + 4000 * ((NEW.bookCount / 20) - NEW.blocks)
  WHERE memberId = NEW.memberId;

  UPDATE tags
  SET blocks = (NEW.bookCount / 20)
  WHERE memberId = NEW.memberId AND tagId = NEW.tagId;
END;

CREATE TRIGGER tags_unpriced AFTER DELETE ON tags
WHEN OLD.blocks > 0
BEGIN
  UPDATE members
  SET textBytes = textBytes - 4000 * OLD.blocks
  WHERE memberId = OLD.memberId
    AND withdrawnAt IS NULL;
END;

CREATE TRIGGER progress_priced AFTER UPDATE OF total ON progress
WHEN EXISTS (SELECT 1 FROM books WHERE bookId = NEW.bookId AND eventBlocks <> (NEW.total / 20))
BEGIN
  UPDATE members
  SET textBytes = textBytes + 4000 * ((NEW.total / 20) - (SELECT eventBlocks FROM books WHERE bookId = NEW.bookId))
  WHERE memberId = NEW.memberId;

  UPDATE books
  SET eventBlocks = (NEW.total / 20)
  WHERE bookId = NEW.bookId;
END;

-- Without events, none has their number.
CREATE TRIGGER progress_unpriced AFTER DELETE ON progress
WHEN EXISTS (
    SELECT 1 FROM books JOIN members USING (memberId) WHERE bookId = OLD.bookId AND eventBlocks > 0 AND withdrawnAt IS NULL
  )
  AND NOT EXISTS (SELECT 1 FROM progress WHERE memberId = OLD.memberId AND bookId = OLD.bookId)
BEGIN
  UPDATE members
  SET textBytes = textBytes + 4000 * (0 - (SELECT eventBlocks FROM books WHERE bookId = OLD.bookId))
  WHERE memberId = OLD.memberId;

  UPDATE books
  SET eventBlocks = 0
  WHERE bookId = OLD.bookId;
END;

-- The highest deleted identifiers, so that none is reused. Unlike AUTOINCREMENT, this writes a row only when the newest row is
-- deleted, not on every insert.

CREATE TRIGGER books_id_retired AFTER DELETE ON books
WHEN OLD.bookId > (SELECT coalesce(max(bookId), 0) FROM books)
BEGIN
  INSERT OR REPLACE INTO retiredIds (tableName, id)
  SELECT 'books', max(OLD.bookId, coalesce((SELECT id FROM retiredIds WHERE tableName = 'books'), 0));
END;

CREATE TRIGGER memos_id_retired AFTER DELETE ON memos
WHEN OLD.memoId > (SELECT coalesce(max(memoId), 0) FROM memos)
BEGIN
  INSERT OR REPLACE INTO retiredIds (tableName, id)
  SELECT 'memos', max(OLD.memoId, coalesce((SELECT id FROM retiredIds WHERE tableName = 'memos'), 0));
END;

CREATE TRIGGER readings_id_retired AFTER DELETE ON readings
WHEN OLD.readingId <> OLD.bookId AND OLD.readingId > (SELECT coalesce(max(readingId), 0) FROM books WHERE readingId IS NOT NULL) AND OLD.readingId > (SELECT coalesce(max(readingId), 0) FROM readings)
BEGIN
  INSERT OR REPLACE INTO retiredIds (tableName, id)
  SELECT 'readings', max(OLD.readingId, coalesce((SELECT id FROM retiredIds WHERE tableName = 'readings'), 0));
END;

CREATE TRIGGER books_reading_retired AFTER UPDATE OF readingId ON books
WHEN OLD.readingId <> OLD.bookId AND OLD.readingId > (SELECT coalesce(max(readingId), 0) FROM books WHERE readingId IS NOT NULL) AND OLD.readingId > (SELECT coalesce(max(readingId), 0) FROM readings)
BEGIN
  INSERT OR REPLACE INTO retiredIds (tableName, id)
  SELECT 'readings', max(OLD.readingId, coalesce((SELECT id FROM retiredIds WHERE tableName = 'readings'), 0));
END;

CREATE TRIGGER books_last_reading_retired AFTER DELETE ON books
WHEN OLD.readingId <> OLD.bookId AND OLD.readingId > (SELECT coalesce(max(readingId), 0) FROM books WHERE readingId IS NOT NULL) AND OLD.readingId > (SELECT coalesce(max(readingId), 0) FROM readings)
BEGIN
  INSERT OR REPLACE INTO retiredIds (tableName, id)
  SELECT 'readings', max(OLD.readingId, coalesce((SELECT id FROM retiredIds WHERE tableName = 'readings'), 0));
END;

-- Keeps the positions of a member's memos at 1 … n, for the random memo: the last memo takes the deleted one's position.
CREATE TRIGGER memos_close_position_gap AFTER DELETE ON memos
WHEN EXISTS (SELECT 1 FROM members WHERE memberId = OLD.memberId AND withdrawnAt IS NULL)
BEGIN
  UPDATE memos
  SET position = OLD.position
  WHERE memberId = OLD.memberId
    AND position > OLD.position
    AND position = (SELECT max(position) FROM memos WHERE memberId = OLD.memberId);
END;


-- Authors, with the number of their books. A row is deleted with the last book of the author, so it is never 0.

CREATE TRIGGER books_author_added AFTER INSERT ON books
WHEN NEW.author IS NOT NULL
BEGIN
  INSERT INTO authors (memberId, authorKey, author, bookCount)
  VALUES (NEW.memberId, coalesce(NEW.authorFolded, lower(NEW.author)), NEW.author, 1)
  ON CONFLICT DO UPDATE SET bookCount = bookCount + 1;
END;

CREATE TRIGGER books_author_removed AFTER DELETE ON books
WHEN OLD.author IS NOT NULL
BEGIN
  DELETE FROM authors
  WHERE memberId = OLD.memberId AND authorKey = coalesce(OLD.authorFolded, lower(OLD.author)) AND bookCount = 1;

  UPDATE authors
  SET bookCount = bookCount - 1
  WHERE memberId = OLD.memberId AND authorKey = coalesce(OLD.authorFolded, lower(OLD.author)) AND bookCount > 1;
END;

CREATE TRIGGER books_author_changed AFTER UPDATE OF author, authorFolded ON books
WHEN coalesce(OLD.authorFolded, lower(OLD.author)) IS NOT coalesce(NEW.authorFolded, lower(NEW.author))
BEGIN
  DELETE FROM authors
  WHERE memberId = OLD.memberId AND authorKey = coalesce(OLD.authorFolded, lower(OLD.author)) AND bookCount = 1;

  UPDATE authors
  SET bookCount = bookCount - 1
  WHERE memberId = OLD.memberId AND authorKey = coalesce(OLD.authorFolded, lower(OLD.author)) AND bookCount > 1;

  INSERT INTO authors (memberId, authorKey, author, bookCount)
  SELECT NEW.memberId, coalesce(NEW.authorFolded, lower(NEW.author)), NEW.author, 1
  WHERE NEW.author IS NOT NULL
  ON CONFLICT DO UPDATE SET bookCount = bookCount + 1;
END;

CREATE TRIGGER books_author_respelled AFTER UPDATE OF author ON books
WHEN NEW.author <> OLD.author
  AND coalesce(OLD.authorFolded, lower(OLD.author)) = coalesce(NEW.authorFolded, lower(NEW.author))
BEGIN
  UPDATE authors
  SET author = NEW.author
  WHERE memberId = NEW.memberId AND authorKey = coalesce(NEW.authorFolded, lower(NEW.author)) AND bookCount = 1;
END;

-- Tags, with the number of their books. A tag without books is deleted, unless a link shows it: then with its last link.

CREATE TRIGGER bookTags_counted_in AFTER INSERT ON bookTags
BEGIN
  UPDATE tags
  SET bookCount = bookCount + 1
  WHERE memberId = NEW.memberId AND tagId = NEW.tagId;
END;

CREATE TRIGGER bookTags_counted_out AFTER DELETE ON bookTags
BEGIN
  DELETE FROM tags
  WHERE memberId = OLD.memberId AND tagId = OLD.tagId AND bookCount = 1
    AND NOT EXISTS (SELECT 1 FROM accessTokens WHERE memberId = OLD.memberId AND tagId = OLD.tagId);

  UPDATE tags
  SET bookCount = bookCount - 1
  WHERE memberId = OLD.memberId AND tagId = OLD.tagId AND bookCount > 0;
END;

CREATE TRIGGER links_tag_deleted AFTER DELETE ON accessTokens
WHEN OLD.tagId IS NOT NULL
BEGIN
  DELETE FROM tags
  WHERE memberId = OLD.memberId AND tagId = OLD.tagId AND bookCount = 0
    AND NOT EXISTS (SELECT 1 FROM accessTokens WHERE memberId = OLD.memberId AND tagId = OLD.tagId);
END;

-- The identifier of a deleted tag may be reused.
CREATE TRIGGER tags_links_deleted AFTER DELETE ON tags
BEGIN
  DELETE FROM accessTokens WHERE memberId = OLD.memberId AND tagId = OLD.tagId;
END;

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
WHEN NEW.total % 20 = 0 AND NOT EXISTS (SELECT 1 FROM trash WHERE trashId = NEW.bookId)
BEGIN
  UPDATE progress
  SET total = total
  WHERE memberId = NEW.memberId AND bookId = NEW.bookId
    AND at = (SELECT max(at) FROM progress WHERE memberId = NEW.memberId AND bookId = NEW.bookId);
END;

-- Above the limit of a book, and at each twentieth event if the member is full: among the oldest 1,000 events, keeps only the last
-- one of each UTC day, and those that are FINISHED or have minutes; if there are none to delete, deletes the oldest.
CREATE TRIGGER progress_limited AFTER INSERT ON progress
WHEN (NEW.total > 1000
    OR (NEW.total % 20 = 0 AND EXISTS (
      SELECT 1 FROM members WHERE memberId = NEW.memberId AND textBytes > coalesce(maxTextBytes, 67108864)
    ))
  ) AND NOT EXISTS (SELECT 1 FROM trash WHERE trashId = NEW.bookId)
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

-- Accounts: a member keeps the newest hundred sessions, the newest 500 failed logins, and the newest 5,000 other entries.

CREATE TRIGGER sessions_limited AFTER INSERT ON sessions
BEGIN
  DELETE FROM sessions
  WHERE memberId = NEW.memberId
    AND sessionId IN (SELECT sessionId FROM sessions WHERE memberId = NEW.memberId ORDER BY createdAt DESC LIMIT -1 OFFSET 100);
END;

CREATE TRIGGER activity_limited AFTER INSERT ON activity
BEGIN
  DELETE FROM activity
  WHERE memberId = NEW.memberId AND isFailedLogin = NEW.isFailedLogin AND entry <= NEW.entry - iif(NEW.isFailedLogin, 500, 5000);
END;

-- What devices push: a member keeps 2,000 documents without sittings, and the positions of five devices in each. The oldest are
-- deleted, first those whose book the member has not set. The reader of statistics limits the documents with sittings.

CREATE TRIGGER documents_limited AFTER INSERT ON documents
WHEN NEW.seconds = 0 AND (SELECT count(*) FROM documents WHERE memberId = NEW.memberId AND seconds = 0) > 2000
BEGIN
  DELETE FROM documents
  -- Not ordered by both, which would read and sort all of them.
  WHERE memberId = NEW.memberId AND document = coalesce(
    (
      SELECT document FROM documents
      WHERE memberId = NEW.memberId AND document <> NEW.document AND seconds = 0 AND NOT isByHand ORDER BY createdAt LIMIT 1
    ),
    (
      SELECT document FROM documents
      WHERE memberId = NEW.memberId AND document <> NEW.document AND seconds = 0 ORDER BY createdAt LIMIT 1
    )
  );
END;

CREATE TRIGGER documents_positions_deleted AFTER DELETE ON documents
BEGIN
  DELETE FROM positions WHERE memberId = OLD.memberId AND document = OLD.document;
END;

CREATE TRIGGER positions_limited AFTER INSERT ON positions
BEGIN
  DELETE FROM positions
  WHERE memberId = NEW.memberId AND document = NEW.document AND tokenId IN (
    SELECT tokenId FROM positions
    WHERE memberId = NEW.memberId AND document = NEW.document ORDER BY at DESC LIMIT -1 OFFSET 5
  );
END;

-- The log of changes. While a member's log is empty, these write nothing. An entry says that an object has changed: its value is
-- its row, or none once it is deleted. No OR REPLACE, which an OR IGNORE of the outer statement would override.

-- Rows that are deleted because their book is get no entry: clients delete them with the book. That condition refers to the log,
-- so that it reads nothing if the log is empty.

CREATE TRIGGER changes_limited AFTER INSERT ON changes
WHEN NEW.seq > 20000 AND NEW.seq % 100 = 0
BEGIN
  DELETE FROM changes
  WHERE memberId = NEW.memberId AND seq <= NEW.seq - 20000;
END;

CREATE TRIGGER books_insert_logged AFTER INSERT ON books
BEGIN
  INSERT INTO changes (memberId, seq, kind, id, proof)
  SELECT memberId, seq + 1, 1, NEW.bookId, random() & 0xFFFFFFFFFFFF FROM changes
  WHERE memberId = NEW.memberId
  ORDER BY seq DESC LIMIT 1;

  INSERT INTO changes (memberId, seq, kind, id, proof)
  SELECT memberId, seq + 1, 4, coalesce(NEW.readingId, NEW.bookId), random() & 0xFFFFFFFFFFFF FROM changes
  WHERE memberId = NEW.memberId
    AND NEW.bookStatus <> 'YET'
  ORDER BY seq DESC LIMIT 1;
END;

-- Not currentPage: each change of it adds or updates a progress event. Not the counters.
CREATE TRIGGER books_update_logged AFTER UPDATE OF title, subtitle, cover, author, publisher, createdAt, star,
  itemPage, bookStatus, readStartDate, readEndDate, isbn, language, format, publishedYear, series, seriesNumber,
  seconds, sourceIds ON books
WHEN (NEW.title, NEW.subtitle, NEW.cover, NEW.author, NEW.publisher, NEW.createdAt, NEW.star, NEW.itemPage,
      NEW.bookStatus, NEW.readStartDate, NEW.readEndDate, NEW.isbn, NEW.language, NEW.format, NEW.publishedYear,
      NEW.series, NEW.seriesNumber, NEW.seconds, NEW.sourceIds)
  IS NOT (OLD.title, OLD.subtitle, OLD.cover, OLD.author, OLD.publisher, OLD.createdAt, OLD.star, OLD.itemPage,
          OLD.bookStatus, OLD.readStartDate, OLD.readEndDate, OLD.isbn, OLD.language, OLD.format, OLD.publishedYear,
          OLD.series, OLD.seriesNumber, OLD.seconds, OLD.sourceIds)
BEGIN
  INSERT INTO changes (memberId, seq, kind, id, proof)
  SELECT memberId, seq + 1, 1, NEW.bookId, random() & 0xFFFFFFFFFFFF FROM changes
  WHERE memberId = NEW.memberId
  ORDER BY seq DESC LIMIT 1;
END;

CREATE TRIGGER books_delete_logged AFTER DELETE ON books
BEGIN
  INSERT INTO changes (memberId, seq, kind, id, proof)
  SELECT memberId, seq + 1, 1, OLD.bookId, random() & 0xFFFFFFFFFFFF FROM changes
  WHERE memberId = OLD.memberId
  ORDER BY seq DESC LIMIT 1;
END;

CREATE TRIGGER bookTags_insert_logged AFTER INSERT ON bookTags
WHEN NOT EXISTS (SELECT 1 FROM trash WHERE trashId = NEW.bookId)
BEGIN
  INSERT INTO changes (memberId, seq, kind, id, proof)
  SELECT memberId, seq + 1, 1, NEW.bookId, random() & 0xFFFFFFFFFFFF FROM changes
  WHERE memberId = NEW.memberId
  ORDER BY seq DESC LIMIT 1;
END;

CREATE TRIGGER bookTags_delete_logged AFTER DELETE ON bookTags
BEGIN
  INSERT INTO changes (memberId, seq, kind, id, proof)
  SELECT memberId, seq + 1, 1, OLD.bookId, random() & 0xFFFFFFFFFFFF FROM changes
  WHERE memberId = OLD.memberId
    AND EXISTS (SELECT 1 FROM books WHERE books.bookId = OLD.bookId AND changes.seq > 0)
  ORDER BY seq DESC LIMIT 1;
END;

CREATE TRIGGER progress_insert_logged AFTER INSERT ON progress
WHEN NOT EXISTS (SELECT 1 FROM trash WHERE trashId = NEW.bookId)
BEGIN
  INSERT INTO changes (memberId, seq, kind, id, proof)
  SELECT memberId, seq + 1, 1, NEW.bookId, random() & 0xFFFFFFFFFFFF FROM changes
  WHERE memberId = NEW.memberId
  ORDER BY seq DESC LIMIT 1;
END;

CREATE TRIGGER progress_update_logged AFTER UPDATE OF page ON progress
WHEN NEW.page <> OLD.page
BEGIN
  INSERT INTO changes (memberId, seq, kind, id, proof)
  SELECT memberId, seq + 1, 1, NEW.bookId, random() & 0xFFFFFFFFFFFF FROM changes
  WHERE memberId = NEW.memberId
  ORDER BY seq DESC LIMIT 1;
END;

CREATE TRIGGER progress_delete_logged AFTER DELETE ON progress
BEGIN
  INSERT INTO changes (memberId, seq, kind, id, proof)
  SELECT memberId, seq + 1, 1, OLD.bookId, random() & 0xFFFFFFFFFFFF FROM changes
  WHERE memberId = OLD.memberId
    AND EXISTS (SELECT 1 FROM books WHERE books.bookId = OLD.bookId AND changes.seq > 0)
  ORDER BY seq DESC LIMIT 1;
END;

CREATE TRIGGER memos_insert_logged AFTER INSERT ON memos
BEGIN
  INSERT INTO changes (memberId, seq, kind, id, proof)
  SELECT memberId, seq + 1, 2, NEW.memoId, random() & 0xFFFFFFFFFFFF FROM changes
  WHERE memberId = NEW.memberId
  ORDER BY seq DESC LIMIT 1;
END;

-- Not the position.
CREATE TRIGGER memos_update_logged AFTER UPDATE OF bookId, memoType, memoContent, memoBookPage, memoAuthority,
  memoLikesCount, createdAt, updatedAt, version ON memos
WHEN (NEW.bookId, NEW.memoType, NEW.memoContent, NEW.memoBookPage, NEW.memoAuthority, NEW.memoLikesCount, NEW.createdAt,
      NEW.updatedAt, NEW.version)
  IS NOT (OLD.bookId, OLD.memoType, OLD.memoContent, OLD.memoBookPage, OLD.memoAuthority, OLD.memoLikesCount,
          OLD.createdAt, OLD.updatedAt, OLD.version)
BEGIN
  INSERT INTO changes (memberId, seq, kind, id, proof)
  SELECT memberId, seq + 1, 2, NEW.memoId, random() & 0xFFFFFFFFFFFF FROM changes
  WHERE memberId = NEW.memberId
  ORDER BY seq DESC LIMIT 1;
END;

CREATE TRIGGER memos_delete_logged AFTER DELETE ON memos
BEGIN
  INSERT INTO changes (memberId, seq, kind, id, proof)
  SELECT memberId, seq + 1, 2, OLD.memoId, random() & 0xFFFFFFFFFFFF FROM changes
  WHERE memberId = OLD.memberId
    AND EXISTS (SELECT 1 FROM books WHERE books.bookId = OLD.bookId AND changes.seq > 0)
  ORDER BY seq DESC LIMIT 1;
END;

CREATE TRIGGER tags_insert_logged AFTER INSERT ON tags
BEGIN
  INSERT INTO changes (memberId, seq, kind, id, proof)
  SELECT memberId, seq + 1, 3, NEW.tagId, random() & 0xFFFFFFFFFFFF FROM changes
  WHERE memberId = NEW.memberId
  ORDER BY seq DESC LIMIT 1;
END;

-- Not bookCount, nor the keys that a merge exchanges.
CREATE TRIGGER tags_update_logged AFTER UPDATE OF tag ON tags
WHEN NEW.tag <> OLD.tag
BEGIN
  INSERT INTO changes (memberId, seq, kind, id, proof)
  SELECT memberId, seq + 1, 3, NEW.tagId, random() & 0xFFFFFFFFFFFF FROM changes
  WHERE memberId = NEW.memberId
  ORDER BY seq DESC LIMIT 1;
END;

CREATE TRIGGER tags_delete_logged AFTER DELETE ON tags
BEGIN
  INSERT INTO changes (memberId, seq, kind, id, proof)
  SELECT memberId, seq + 1, 3, OLD.tagId, random() & 0xFFFFFFFFFFFF FROM changes
  WHERE memberId = OLD.memberId
  ORDER BY seq DESC LIMIT 1;
END;

CREATE TRIGGER books_reading_left AFTER UPDATE OF bookStatus, readingId ON books
WHEN OLD.bookStatus <> 'YET'
  AND (NEW.bookStatus = 'YET' OR coalesce(NEW.readingId, NEW.bookId) <> coalesce(OLD.readingId, OLD.bookId))
  AND NOT EXISTS (SELECT 1 FROM readings WHERE readingId = coalesce(OLD.readingId, OLD.bookId))
BEGIN
  INSERT INTO changes (memberId, seq, kind, id, proof)
  SELECT memberId, seq + 1, 4, coalesce(OLD.readingId, OLD.bookId), random() & 0xFFFFFFFFFFFF FROM changes
  WHERE memberId = OLD.memberId
  ORDER BY seq DESC LIMIT 1;
END;

-- Also deletes the past row of a reading that has become the current one: the order of two triggers is undefined. The conditions
-- refer to the log, so that they read nothing if it is empty.
CREATE TRIGGER books_reading_changed AFTER UPDATE OF bookStatus, readStartDate, readEndDate, star, readingId,
  startedAt, finishedAt, isStopped, quarters, readingFormat, isPaused, readingSince, archivedId, archivedStart,
  archivedEnd, archivedStar, importId, note ON books
WHEN NEW.bookStatus <> 'YET'
BEGIN
  INSERT INTO changes (memberId, seq, kind, id, proof)
  SELECT memberId, seq + 1, 4, coalesce(NEW.readingId, NEW.bookId), random() & 0xFFFFFFFFFFFF FROM changes
  WHERE memberId = NEW.memberId
    AND changes.seq > 0
    AND (OLD.bookStatus = 'YET' OR (
      coalesce(OLD.readingId, OLD.bookId),
      coalesce(nullif(substr(OLD.readStartDate, 1, 10), OLD.archivedStart), OLD.startedAt),
      iif(OLD.bookStatus = 'DONE', coalesce(nullif(substr(OLD.readEndDate, 1, 10), OLD.archivedEnd), OLD.finishedAt), NULL),
      iif(OLD.bookStatus <> 'DONE', NULL, OLD.isStopped AND nullif(substr(OLD.readEndDate, 1, 10), OLD.archivedEnd) IS NULL, 'STOPPED', 'FINISHED'),
      iif(max(1, (OLD.quarters + 2) >> 2) = OLD.star, OLD.quarters, OLD.star IS OLD.archivedStar, NULL, nullif(OLD.star * 4, 0)),
      OLD.readingFormat,
      OLD.note,
      (OLD.isPaused AND OLD.bookStatus = 'ING')
    ) IS NOT (SELECT readingId, startedAt, finishedAt, outcome, quarters, format, note, isPaused FROM currentReadings WHERE bookId = NEW.bookId))
  ORDER BY seq DESC LIMIT 1;

  DELETE FROM readings
  WHERE readingId = coalesce(NEW.readingId, NEW.bookId)
    AND coalesce(NEW.readingId, NEW.bookId) <> coalesce(OLD.readingId, OLD.bookId);
END;

CREATE TRIGGER readings_insert_logged AFTER INSERT ON readings
WHEN NOT EXISTS (
  SELECT 1 FROM currentReadings WHERE bookId = NEW.bookId
    AND (readingId, startedAt, finishedAt, outcome, quarters, format, note, isPaused)
      IS (NEW.readingId, NEW.startedAt, NEW.finishedAt, NEW.outcome, NEW.quarters, NEW.format, NEW.note, 0)
)
BEGIN
  INSERT INTO changes (memberId, seq, kind, id, proof)
  SELECT memberId, seq + 1, 4, NEW.readingId, random() & 0xFFFFFFFFFFFF FROM changes
  WHERE memberId = NEW.memberId
  ORDER BY seq DESC LIMIT 1;
END;

CREATE TRIGGER readings_update_logged AFTER UPDATE OF bookId, startedAt, finishedAt, outcome, quarters, format,
  note ON readings
WHEN (NEW.bookId, NEW.startedAt, NEW.finishedAt, NEW.outcome, NEW.quarters, NEW.format, NEW.note)
  IS NOT (OLD.bookId, OLD.startedAt, OLD.finishedAt, OLD.outcome, OLD.quarters, OLD.format, OLD.note)
BEGIN
  INSERT INTO changes (memberId, seq, kind, id, proof)
  SELECT memberId, seq + 1, 4, NEW.readingId, random() & 0xFFFFFFFFFFFF FROM changes
  WHERE memberId = NEW.memberId
  ORDER BY seq DESC LIMIT 1;
END;

CREATE TRIGGER readings_delete_logged AFTER DELETE ON readings
WHEN NOT EXISTS (SELECT 1 FROM currentReadings WHERE bookId = OLD.bookId AND readingId = OLD.readingId)
BEGIN
  INSERT INTO changes (memberId, seq, kind, id, proof)
  SELECT memberId, seq + 1, 4, OLD.readingId, random() & 0xFFFFFFFFFFFF FROM changes
  WHERE memberId = OLD.memberId
    AND EXISTS (SELECT 1 FROM books WHERE books.bookId = OLD.bookId AND changes.seq > 0)
  ORDER BY seq DESC LIMIT 1;
END;

-- What devices have read of a book.
CREATE TRIGGER documents_read_logged AFTER UPDATE OF seconds ON documents
WHEN NEW.seconds <> OLD.seconds AND NEW.bookId IS NOT NULL
BEGIN
  INSERT INTO changes (memberId, seq, kind, id, proof)
  SELECT memberId, seq + 1, 1, NEW.bookId, random() & 0xFFFFFFFFFFFF FROM changes
  WHERE memberId = NEW.memberId
  ORDER BY seq DESC LIMIT 1;
END;

-- Of a book in the trash, the entry has no value.
CREATE TRIGGER documents_link_logged AFTER UPDATE OF bookId ON documents
WHEN NEW.bookId IS NOT OLD.bookId AND NEW.seconds > 0
BEGIN
  INSERT INTO changes (memberId, seq, kind, id, proof)
  SELECT memberId, seq + 1, 1, OLD.bookId, random() & 0xFFFFFFFFFFFF FROM changes
  WHERE memberId = OLD.memberId
    AND OLD.bookId IS NOT NULL
  ORDER BY seq DESC LIMIT 1;

  INSERT INTO changes (memberId, seq, kind, id, proof)
  SELECT memberId, seq + 1, 1, NEW.bookId, random() & 0xFFFFFFFFFFFF FROM changes
  WHERE memberId = NEW.memberId
    AND NEW.bookId IS NOT NULL
  ORDER BY seq DESC LIMIT 1;
END;
