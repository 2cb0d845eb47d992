CREATE TABLE `changes` (
	`memberId` integer NOT NULL,
	`seq` integer NOT NULL,
	`kind` integer NOT NULL,
	`id` integer NOT NULL,
	`proof` integer NOT NULL,
	PRIMARY KEY(`memberId`, `seq`),
	FOREIGN KEY (`memberId`) REFERENCES `members`(`memberId`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "changes_kind" CHECK("changes"."kind" between 0 and 4)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TRIGGER changes_limited AFTER INSERT ON changes WHEN NEW.seq > 20000 AND NEW.seq % 100 = 0 BEGIN DELETE FROM changes WHERE memberId = NEW.memberId AND seq <= NEW.seq - 20000; END;
--> statement-breakpoint
CREATE TRIGGER books_insert_logged AFTER INSERT ON books BEGIN INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 1, NEW.bookId, random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = NEW.memberId ORDER BY seq DESC LIMIT 1; INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 4, NEW.bookId, random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = NEW.memberId AND NEW.newestReadingId IS NULL AND NEW.bookStatus <> 'YET' ORDER BY seq DESC LIMIT 1; END;
--> statement-breakpoint
CREATE TRIGGER books_update_logged AFTER UPDATE OF title, cover, author, publisher, createdAt, star, itemPage, bookStatus, readStartDate, readEndDate, isbn, language, format, publishedYear, series, seriesNumber, sourceIds ON books WHEN (NEW.title, NEW.cover, NEW.author, NEW.publisher, NEW.createdAt, NEW.star, NEW.itemPage, NEW.bookStatus, NEW.readStartDate, NEW.readEndDate, NEW.isbn, NEW.language, NEW.format, NEW.publishedYear, NEW.series, NEW.seriesNumber, NEW.sourceIds) IS NOT (OLD.title, OLD.cover, OLD.author, OLD.publisher, OLD.createdAt, OLD.star, OLD.itemPage, OLD.bookStatus, OLD.readStartDate, OLD.readEndDate, OLD.isbn, OLD.language, OLD.format, OLD.publishedYear, OLD.series, OLD.seriesNumber, OLD.sourceIds) BEGIN INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 1, NEW.bookId, random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = NEW.memberId ORDER BY seq DESC LIMIT 1; END;
--> statement-breakpoint
CREATE TRIGGER books_reading_logged AFTER UPDATE OF bookStatus, readStartDate, readEndDate, star ON books WHEN NEW.newestReadingId IS NULL AND OLD.newestReadingId IS NULL AND (NEW.bookStatus = 'DONE' OR (OLD.bookStatus <> 'DONE' AND 'ING' IN (NEW.bookStatus, OLD.bookStatus))) AND (NEW.bookStatus, NEW.readStartDate, NEW.readEndDate, NEW.star) IS NOT (OLD.bookStatus, OLD.readStartDate, OLD.readEndDate, OLD.star) BEGIN INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 4, NEW.bookId, random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = NEW.memberId ORDER BY seq DESC LIMIT 1; END;
--> statement-breakpoint
CREATE TRIGGER books_delete_logged AFTER DELETE ON books BEGIN INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 1, OLD.bookId, random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = OLD.memberId ORDER BY seq DESC LIMIT 1; END;
--> statement-breakpoint
CREATE TRIGGER bookTags_insert_logged AFTER INSERT ON bookTags BEGIN INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 1, NEW.bookId, random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = NEW.memberId ORDER BY seq DESC LIMIT 1; END;
--> statement-breakpoint
CREATE TRIGGER bookTags_delete_logged AFTER DELETE ON bookTags BEGIN INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 1, OLD.bookId, random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = OLD.memberId AND EXISTS (SELECT 1 FROM books WHERE books.bookId = OLD.bookId AND changes.seq > 0) ORDER BY seq DESC LIMIT 1; END;
--> statement-breakpoint
CREATE TRIGGER progress_insert_logged AFTER INSERT ON progress BEGIN INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 1, NEW.bookId, random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = NEW.memberId ORDER BY seq DESC LIMIT 1; END;
--> statement-breakpoint
CREATE TRIGGER progress_update_logged AFTER UPDATE OF page ON progress WHEN NEW.page <> OLD.page BEGIN INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 1, NEW.bookId, random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = NEW.memberId ORDER BY seq DESC LIMIT 1; END;
--> statement-breakpoint
CREATE TRIGGER memos_insert_logged AFTER INSERT ON memos BEGIN INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 2, NEW.memoId, random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = NEW.memberId ORDER BY seq DESC LIMIT 1; END;
--> statement-breakpoint
CREATE TRIGGER memos_update_logged AFTER UPDATE OF bookId, memoType, memoContent, memoBookPage, memoAuthority, memoLikesCount, createdAt, updatedAt, version ON memos WHEN (NEW.bookId, NEW.memoType, NEW.memoContent, NEW.memoBookPage, NEW.memoAuthority, NEW.memoLikesCount, NEW.createdAt, NEW.updatedAt, NEW.version) IS NOT (OLD.bookId, OLD.memoType, OLD.memoContent, OLD.memoBookPage, OLD.memoAuthority, OLD.memoLikesCount, OLD.createdAt, OLD.updatedAt, OLD.version) BEGIN INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 2, NEW.memoId, random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = NEW.memberId ORDER BY seq DESC LIMIT 1; END;
--> statement-breakpoint
CREATE TRIGGER memos_delete_logged AFTER DELETE ON memos BEGIN INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 2, OLD.memoId, random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = OLD.memberId AND EXISTS (SELECT 1 FROM books WHERE books.bookId = OLD.bookId AND changes.seq > 0) ORDER BY seq DESC LIMIT 1; END;
--> statement-breakpoint
CREATE TRIGGER tags_insert_logged AFTER INSERT ON tags BEGIN INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 3, NEW.tagId, random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = NEW.memberId ORDER BY seq DESC LIMIT 1; END;
--> statement-breakpoint
CREATE TRIGGER tags_update_logged AFTER UPDATE OF tag ON tags WHEN NEW.tag <> OLD.tag BEGIN INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 3, NEW.tagId, random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = NEW.memberId ORDER BY seq DESC LIMIT 1; END;
--> statement-breakpoint
CREATE TRIGGER tags_delete_logged AFTER DELETE ON tags BEGIN INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 3, OLD.tagId, random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = OLD.memberId ORDER BY seq DESC LIMIT 1; END;
--> statement-breakpoint
CREATE TRIGGER readings_insert_logged AFTER INSERT ON readings BEGIN INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 4, NEW.readingId, random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = NEW.memberId ORDER BY seq DESC LIMIT 1; END;
--> statement-breakpoint
CREATE TRIGGER readings_update_logged AFTER UPDATE OF bookId, startedAt, finishedAt, outcome, quarters, format, note, isPaused ON readings WHEN (NEW.bookId, NEW.startedAt, NEW.finishedAt, NEW.outcome, NEW.quarters, NEW.format, NEW.note, NEW.isPaused) IS NOT (OLD.bookId, OLD.startedAt, OLD.finishedAt, OLD.outcome, OLD.quarters, OLD.format, OLD.note, OLD.isPaused) BEGIN INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 4, NEW.readingId, random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = NEW.memberId ORDER BY seq DESC LIMIT 1; END;
--> statement-breakpoint
CREATE TRIGGER readings_delete_logged AFTER DELETE ON readings BEGIN INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 4, OLD.readingId, random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = OLD.memberId AND EXISTS (SELECT 1 FROM books WHERE books.bookId = OLD.bookId AND changes.seq > 0) ORDER BY seq DESC LIMIT 1; END;