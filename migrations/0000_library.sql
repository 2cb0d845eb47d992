CREATE TABLE `books` (
	`bookId` integer PRIMARY KEY NOT NULL,
	`memberId` integer NOT NULL,
	`title` text NOT NULL,
	`cover` text,
	`author` text,
	`publisher` text,
	`createdAt` text NOT NULL,
	`star` integer DEFAULT 0 NOT NULL,
	`currentPage` integer DEFAULT 0 NOT NULL,
	`itemPage` integer,
	`bookStatus` text DEFAULT 'YET' NOT NULL,
	`readStartDate` text,
	`readEndDate` text,
	`contentMemos` integer DEFAULT 0 NOT NULL,
	`summaryMemos` integer DEFAULT 0 NOT NULL,
	`thoughtMemos` integer DEFAULT 0 NOT NULL,
	`questionMemos` integer DEFAULT 0 NOT NULL,
	`memoCount` integer DEFAULT 0 NOT NULL,
	`hasMemos` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`memberId`) REFERENCES `members`(`memberId`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "books_status" CHECK("books"."bookStatus" in ('YET', 'ING', 'DONE')),
	CONSTRAINT "books_star" CHECK("books"."star" between 0 and 5),
	CONSTRAINT "books_current_page" CHECK("books"."currentPage" between 0 and 2147483647),
	CONSTRAINT "books_item_page" CHECK("books"."itemPage" between 0 and 2147483647),
	CONSTRAINT "books_created_at" CHECK("books"."createdAt" is strftime('%Y-%m-%dT%H:%M:%S', "books"."createdAt")),
	CONSTRAINT "books_read_start_date" CHECK("books"."readStartDate" is strftime('%Y-%m-%dT%H:%M:%S', "books"."readStartDate")),
	CONSTRAINT "books_read_end_date" CHECK("books"."readEndDate" is strftime('%Y-%m-%dT%H:%M:%S', "books"."readEndDate")),
	CONSTRAINT "books_memo_count" CHECK("books"."memoCount" = "books"."contentMemos" + "books"."summaryMemos" + "books"."thoughtMemos" + "books"."questionMemos"),
	CONSTRAINT "books_memo_counts" CHECK(min("books"."contentMemos", "books"."summaryMemos", "books"."thoughtMemos", "books"."questionMemos") >= 0),
	CONSTRAINT "books_has_memos" CHECK("books"."hasMemos" = ("books"."memoCount" > 0))
);
--> statement-breakpoint
CREATE INDEX `books_by_status` ON `books` (`memberId`,`bookStatus`);--> statement-breakpoint
CREATE INDEX `books_finished` ON `books` (`memberId`,`readEndDate`) WHERE "bookStatus" = 'DONE' and "readEndDate" is not null;--> statement-breakpoint
CREATE INDEX `books_unread` ON `books` (`memberId`,`createdAt`) WHERE "bookStatus" = 'YET';--> statement-breakpoint
CREATE INDEX `books_with_memos` ON `books` (`memberId`) WHERE "hasMemos" = 1;--> statement-breakpoint
CREATE TABLE `members` (
	`memberId` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`email` text NOT NULL,
	`name` text NOT NULL,
	`passwordHash` text NOT NULL,
	`tokenVersion` integer DEFAULT 0 NOT NULL,
	`keptTokenId` text,
	`createdAt` text NOT NULL,
	`updatedAt` text NOT NULL,
	`yetBooks` integer DEFAULT 0 NOT NULL,
	`ingBooks` integer DEFAULT 0 NOT NULL,
	`doneBooks` integer DEFAULT 0 NOT NULL,
	`finishedBooks` integer DEFAULT 0 NOT NULL,
	`memoBooks` integer DEFAULT 0 NOT NULL,
	CONSTRAINT "members_created_at" CHECK("members"."createdAt" is strftime('%Y-%m-%dT%H:%M:%S', "members"."createdAt")),
	CONSTRAINT "members_updated_at" CHECK("members"."updatedAt" is strftime('%Y-%m-%dT%H:%M:%S', "members"."updatedAt"))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `members_email` ON `members` (lower("email"));--> statement-breakpoint
CREATE TABLE `memos` (
	`memoId` integer PRIMARY KEY NOT NULL,
	`bookId` integer NOT NULL,
	`memberId` integer NOT NULL,
	`position` integer NOT NULL,
	`memoType` text NOT NULL,
	`memoContent` text NOT NULL,
	`memoBookPage` integer NOT NULL,
	`memoAuthority` text NOT NULL,
	`memoLikesCount` integer DEFAULT 0 NOT NULL,
	`createdAt` text NOT NULL,
	`updatedAt` text NOT NULL,
	FOREIGN KEY (`bookId`) REFERENCES `books`(`bookId`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "memos_type" CHECK("memos"."memoType" in ('BOOK_CONTENT', 'SUMMARY', 'THOUGHT', 'QUESTION')),
	CONSTRAINT "memos_authority" CHECK("memos"."memoAuthority" in ('PRIVATE', 'PUBLIC')),
	CONSTRAINT "memos_book_page" CHECK("memos"."memoBookPage" between 0 and 2147483647),
	CONSTRAINT "memos_likes_count" CHECK("memos"."memoLikesCount" >= 0),
	CONSTRAINT "memos_created_at" CHECK("memos"."createdAt" is strftime('%Y-%m-%dT%H:%M:%S', "memos"."createdAt")),
	CONSTRAINT "memos_updated_at" CHECK("memos"."updatedAt" is strftime('%Y-%m-%dT%H:%M:%S', "memos"."updatedAt"))
);
--> statement-breakpoint
CREATE INDEX `memos_by_type` ON `memos` (`bookId`,`memoType`);--> statement-breakpoint
CREATE UNIQUE INDEX `memos_by_position` ON `memos` (`memberId`,`position`);--> statement-breakpoint
CREATE TABLE `retiredIds` (
	`tableName` text PRIMARY KEY NOT NULL,
	`id` integer NOT NULL
);

--> statement-breakpoint
-- Each trigger stands on one line, since a deployed D1 splits what it is sent, and not all of it well.
--
-- The counters that make every total one read row, the positions that the random draw draws from, and identifiers
-- that are never given twice. All follow the rows themselves, in the same transaction, cascades included.
CREATE TRIGGER books_counted_in AFTER INSERT ON books BEGIN UPDATE members SET yetBooks = yetBooks + (NEW.bookStatus = 'YET'), ingBooks = ingBooks + (NEW.bookStatus = 'ING'), doneBooks = doneBooks + (NEW.bookStatus = 'DONE'), finishedBooks = finishedBooks + (NEW.bookStatus = 'DONE' AND NEW.readEndDate IS NOT NULL) WHERE memberId = NEW.memberId; END;
--> statement-breakpoint
CREATE TRIGGER books_counted_out AFTER DELETE ON books BEGIN UPDATE members SET yetBooks = yetBooks - (OLD.bookStatus = 'YET'), ingBooks = ingBooks - (OLD.bookStatus = 'ING'), doneBooks = doneBooks - (OLD.bookStatus = 'DONE'), finishedBooks = finishedBooks - (OLD.bookStatus = 'DONE' AND OLD.readEndDate IS NOT NULL), memoBooks = memoBooks - OLD.hasMemos WHERE memberId = OLD.memberId; END;
--> statement-breakpoint
CREATE TRIGGER books_recounted AFTER UPDATE OF bookStatus, readEndDate ON books WHEN OLD.bookStatus <> NEW.bookStatus OR (OLD.readEndDate IS NULL) <> (NEW.readEndDate IS NULL) BEGIN UPDATE members SET yetBooks = yetBooks - (OLD.bookStatus = 'YET') + (NEW.bookStatus = 'YET'), ingBooks = ingBooks - (OLD.bookStatus = 'ING') + (NEW.bookStatus = 'ING'), doneBooks = doneBooks - (OLD.bookStatus = 'DONE') + (NEW.bookStatus = 'DONE'), finishedBooks = finishedBooks - (OLD.bookStatus = 'DONE' AND OLD.readEndDate IS NOT NULL) + (NEW.bookStatus = 'DONE' AND NEW.readEndDate IS NOT NULL) WHERE memberId = NEW.memberId; END;
--> statement-breakpoint
-- AUTOINCREMENT would do, at the price of one more written row for each insert. This writes only when the newest goes.
CREATE TRIGGER books_id_retired AFTER DELETE ON books WHEN OLD.bookId > (SELECT coalesce(max(bookId), 0) FROM books) BEGIN INSERT OR REPLACE INTO retiredIds (tableName, id) SELECT 'books', max(OLD.bookId, coalesce((SELECT id FROM retiredIds WHERE tableName = 'books'), 0)); END;
--> statement-breakpoint
-- A further memo writes the row of the book only, the first one also the index of books with memos and the total of the member.
CREATE TRIGGER memos_counted_in AFTER INSERT ON memos BEGIN UPDATE books SET memoCount = memoCount + 1, contentMemos = contentMemos + (NEW.memoType = 'BOOK_CONTENT'), summaryMemos = summaryMemos + (NEW.memoType = 'SUMMARY'), thoughtMemos = thoughtMemos + (NEW.memoType = 'THOUGHT'), questionMemos = questionMemos + (NEW.memoType = 'QUESTION') WHERE bookId = NEW.bookId AND hasMemos = 1; UPDATE members SET memoBooks = memoBooks + 1 WHERE memberId = NEW.memberId AND (SELECT hasMemos FROM books WHERE bookId = NEW.bookId) = 0; UPDATE books SET memoCount = 1, contentMemos = (NEW.memoType = 'BOOK_CONTENT'), summaryMemos = (NEW.memoType = 'SUMMARY'), thoughtMemos = (NEW.memoType = 'THOUGHT'), questionMemos = (NEW.memoType = 'QUESTION'), hasMemos = 1 WHERE bookId = NEW.bookId AND hasMemos = 0; END;
--> statement-breakpoint
-- Where the book itself is being deleted there is no row left to count on, and nothing is written.
CREATE TRIGGER memos_counted_out AFTER DELETE ON memos BEGIN UPDATE members SET memoBooks = memoBooks - 1 WHERE memberId = OLD.memberId AND (SELECT memoCount FROM books WHERE bookId = OLD.bookId) = 1; UPDATE books SET memoCount = 0, contentMemos = 0, summaryMemos = 0, thoughtMemos = 0, questionMemos = 0, hasMemos = 0 WHERE bookId = OLD.bookId AND memoCount = 1; UPDATE books SET memoCount = memoCount - 1, contentMemos = contentMemos - (OLD.memoType = 'BOOK_CONTENT'), summaryMemos = summaryMemos - (OLD.memoType = 'SUMMARY'), thoughtMemos = thoughtMemos - (OLD.memoType = 'THOUGHT'), questionMemos = questionMemos - (OLD.memoType = 'QUESTION') WHERE bookId = OLD.bookId AND memoCount > 1; END;
--> statement-breakpoint
CREATE TRIGGER memos_recounted AFTER UPDATE OF memoType ON memos WHEN OLD.memoType <> NEW.memoType BEGIN UPDATE books SET contentMemos = contentMemos - (OLD.memoType = 'BOOK_CONTENT') + (NEW.memoType = 'BOOK_CONTENT'), summaryMemos = summaryMemos - (OLD.memoType = 'SUMMARY') + (NEW.memoType = 'SUMMARY'), thoughtMemos = thoughtMemos - (OLD.memoType = 'THOUGHT') + (NEW.memoType = 'THOUGHT'), questionMemos = questionMemos - (OLD.memoType = 'QUESTION') + (NEW.memoType = 'QUESTION') WHERE bookId = NEW.bookId; END;
--> statement-breakpoint
-- The last memo of the member moves into the hole, so that positions stay 1 … n. A member who withdraws needs none.
CREATE TRIGGER memos_hole_filled AFTER DELETE ON memos WHEN EXISTS (SELECT 1 FROM members WHERE memberId = OLD.memberId) BEGIN UPDATE memos SET position = OLD.position WHERE memberId = OLD.memberId AND position > OLD.position AND position = (SELECT max(position) FROM memos WHERE memberId = OLD.memberId); END;
--> statement-breakpoint
CREATE TRIGGER memos_id_retired AFTER DELETE ON memos WHEN OLD.memoId > (SELECT coalesce(max(memoId), 0) FROM memos) BEGIN INSERT OR REPLACE INTO retiredIds (tableName, id) SELECT 'memos', max(OLD.memoId, coalesce((SELECT id FROM retiredIds WHERE tableName = 'memos'), 0)); END;
