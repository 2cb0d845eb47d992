CREATE TABLE `images` (
	`imageId` integer PRIMARY KEY NOT NULL,
	`memberId` integer NOT NULL,
	`name` text NOT NULL,
	`type` text NOT NULL,
	`bytes` integer NOT NULL,
	`createdAt` text NOT NULL,
	FOREIGN KEY (`memberId`) REFERENCES `members`(`memberId`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "images_bytes" CHECK("images"."bytes" > 0),
	CONSTRAINT "images_created_at" CHECK("images"."createdAt" is strftime('%Y-%m-%dT%H:%M:%S', "images"."createdAt"))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `images_by_name` ON `images` (`memberId`,`name`);--> statement-breakpoint
CREATE INDEX `images_newest_first` ON `images` (`memberId`);--> statement-breakpoint
ALTER TABLE `books` ADD `memoBytes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `members` ADD `textBytes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `members` ADD `imageCount` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `members` ADD `imageBytes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `members` ADD `withdrawnAt` integer;
--> statement-breakpoint
-- What is stored already. octet_length reads no content, only its length.
UPDATE books SET memoBytes = (SELECT sum(octet_length(memoContent)) FROM memos WHERE memos.bookId = books.bookId) WHERE hasMemos = 1;
--> statement-breakpoint
UPDATE members SET textBytes = coalesce((SELECT sum(memoBytes + octet_length(concat(title, cover, author, publisher))) FROM books WHERE books.memberId = members.memberId), 0);
--> statement-breakpoint
-- The triggers, formatted and explained in src/db/triggers.sql.
DROP TRIGGER books_counted_in;
--> statement-breakpoint
DROP TRIGGER books_counted_out;
--> statement-breakpoint
DROP TRIGGER memos_counted_in;
--> statement-breakpoint
DROP TRIGGER memos_counted_out;
--> statement-breakpoint
DROP TRIGGER memos_hole_filled;
--> statement-breakpoint
CREATE TRIGGER books_counted_in AFTER INSERT ON books BEGIN UPDATE members SET yetBooks = yetBooks + (NEW.bookStatus = 'YET'), ingBooks = ingBooks + (NEW.bookStatus = 'ING'), doneBooks = doneBooks + (NEW.bookStatus = 'DONE'), finishedBooks = finishedBooks + (NEW.bookStatus = 'DONE' AND NEW.readEndDate IS NOT NULL), textBytes = textBytes + octet_length(concat(NEW.title, NEW.cover, NEW.author, NEW.publisher)) WHERE memberId = NEW.memberId; END;
--> statement-breakpoint
CREATE TRIGGER books_counted_out AFTER DELETE ON books BEGIN UPDATE members SET yetBooks = yetBooks - (OLD.bookStatus = 'YET'), ingBooks = ingBooks - (OLD.bookStatus = 'ING'), doneBooks = doneBooks - (OLD.bookStatus = 'DONE'), finishedBooks = finishedBooks - (OLD.bookStatus = 'DONE' AND OLD.readEndDate IS NOT NULL), memoBooks = memoBooks - OLD.hasMemos, textBytes = textBytes - OLD.memoBytes - octet_length(concat(OLD.title, OLD.cover, OLD.author, OLD.publisher)) WHERE memberId = OLD.memberId AND withdrawnAt IS NULL; END;
--> statement-breakpoint
CREATE TRIGGER books_resized AFTER UPDATE OF title, cover, author, publisher ON books WHEN octet_length(concat(NEW.title, NEW.cover, NEW.author, NEW.publisher)) <> octet_length(concat(OLD.title, OLD.cover, OLD.author, OLD.publisher)) BEGIN UPDATE members SET textBytes = textBytes + octet_length(concat(NEW.title, NEW.cover, NEW.author, NEW.publisher)) - octet_length(concat(OLD.title, OLD.cover, OLD.author, OLD.publisher)) WHERE memberId = NEW.memberId; END;
--> statement-breakpoint
CREATE TRIGGER memos_counted_in AFTER INSERT ON memos BEGIN UPDATE members SET textBytes = textBytes + octet_length(NEW.memoContent), memoBooks = memoBooks + ((SELECT hasMemos FROM books WHERE bookId = NEW.bookId) = 0) WHERE memberId = NEW.memberId; UPDATE books SET memoCount = memoCount + 1, contentMemos = contentMemos + (NEW.memoType = 'BOOK_CONTENT'), summaryMemos = summaryMemos + (NEW.memoType = 'SUMMARY'), thoughtMemos = thoughtMemos + (NEW.memoType = 'THOUGHT'), questionMemos = questionMemos + (NEW.memoType = 'QUESTION'), memoBytes = memoBytes + octet_length(NEW.memoContent) WHERE bookId = NEW.bookId AND hasMemos = 1; UPDATE books SET memoCount = 1, contentMemos = (NEW.memoType = 'BOOK_CONTENT'), summaryMemos = (NEW.memoType = 'SUMMARY'), thoughtMemos = (NEW.memoType = 'THOUGHT'), questionMemos = (NEW.memoType = 'QUESTION'), memoBytes = octet_length(NEW.memoContent), hasMemos = 1 WHERE bookId = NEW.bookId AND hasMemos = 0; END;
--> statement-breakpoint
CREATE TRIGGER memos_counted_out AFTER DELETE ON memos WHEN EXISTS (SELECT 1 FROM books JOIN members USING (memberId) WHERE bookId = OLD.bookId AND withdrawnAt IS NULL) BEGIN UPDATE members SET textBytes = textBytes - octet_length(OLD.memoContent), memoBooks = memoBooks - ((SELECT memoCount FROM books WHERE bookId = OLD.bookId) = 1) WHERE memberId = OLD.memberId; UPDATE books SET memoCount = 0, contentMemos = 0, summaryMemos = 0, thoughtMemos = 0, questionMemos = 0, memoBytes = 0, hasMemos = 0 WHERE bookId = OLD.bookId AND memoCount = 1; UPDATE books SET memoCount = memoCount - 1, contentMemos = contentMemos - (OLD.memoType = 'BOOK_CONTENT'), summaryMemos = summaryMemos - (OLD.memoType = 'SUMMARY'), thoughtMemos = thoughtMemos - (OLD.memoType = 'THOUGHT'), questionMemos = questionMemos - (OLD.memoType = 'QUESTION'), memoBytes = memoBytes - octet_length(OLD.memoContent) WHERE bookId = OLD.bookId AND memoCount > 1; END;
--> statement-breakpoint
CREATE TRIGGER memos_resized AFTER UPDATE OF memoContent ON memos WHEN octet_length(NEW.memoContent) <> octet_length(OLD.memoContent) BEGIN UPDATE books SET memoBytes = memoBytes + octet_length(NEW.memoContent) - octet_length(OLD.memoContent) WHERE bookId = NEW.bookId; UPDATE members SET textBytes = textBytes + octet_length(NEW.memoContent) - octet_length(OLD.memoContent) WHERE memberId = NEW.memberId; END;
--> statement-breakpoint
CREATE TRIGGER memos_hole_filled AFTER DELETE ON memos WHEN EXISTS (SELECT 1 FROM members WHERE memberId = OLD.memberId AND withdrawnAt IS NULL) BEGIN UPDATE memos SET position = OLD.position WHERE memberId = OLD.memberId AND position > OLD.position AND position = (SELECT max(position) FROM memos WHERE memberId = OLD.memberId); END;
--> statement-breakpoint
CREATE TRIGGER images_counted_in AFTER INSERT ON images BEGIN UPDATE members SET imageCount = imageCount + 1, imageBytes = imageBytes + NEW.bytes WHERE memberId = NEW.memberId; END;
--> statement-breakpoint
CREATE TRIGGER images_counted_out AFTER DELETE ON images BEGIN UPDATE members SET imageCount = imageCount - 1, imageBytes = imageBytes - OLD.bytes WHERE memberId = OLD.memberId AND withdrawnAt IS NULL; END;
