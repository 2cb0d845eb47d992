ALTER TABLE `importRows` ADD `texts` text;
--> statement-breakpoint
DROP TRIGGER books_reading_logged;
--> statement-breakpoint
CREATE TRIGGER books_reading_logged AFTER UPDATE OF bookStatus, readStartDate, readEndDate, star ON books WHEN NEW.newestReadingId IS NULL AND OLD.newestReadingId IS NULL AND ( NEW.bookStatus = 'DONE' OR NEW.readingVersion <> OLD.readingVersion OR (OLD.bookStatus <> 'DONE' AND 'ING' IN (NEW.bookStatus, OLD.bookStatus)) ) AND (NEW.bookStatus, NEW.readStartDate, NEW.readEndDate, NEW.star) IS NOT (OLD.bookStatus, OLD.readStartDate, OLD.readEndDate, OLD.star) BEGIN INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 4, NEW.bookId, random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = NEW.memberId ORDER BY seq DESC LIMIT 1; END;
--> statement-breakpoint
CREATE TRIGGER progress_delete_logged AFTER DELETE ON progress BEGIN INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 1, OLD.bookId, random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = OLD.memberId AND EXISTS (SELECT 1 FROM books WHERE books.bookId = OLD.bookId AND changes.seq > 0) ORDER BY seq DESC LIMIT 1; END;