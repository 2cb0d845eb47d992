CREATE TABLE `authors` (
	`memberId` integer NOT NULL,
	`authorKey` text NOT NULL,
	`author` text NOT NULL,
	`bookCount` integer NOT NULL,
	PRIMARY KEY(`memberId`, `authorKey`),
	FOREIGN KEY (`memberId`) REFERENCES `members`(`memberId`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `bookTags` (
	`memberId` integer NOT NULL,
	`tagId` integer NOT NULL,
	`bookId` integer NOT NULL,
	PRIMARY KEY(`memberId`, `tagId`, `bookId`),
	FOREIGN KEY (`memberId`) REFERENCES `members`(`memberId`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `bookTags_by_book` ON `bookTags` (`memberId`,`bookId`);--> statement-breakpoint
CREATE TABLE `progress` (
	`memberId` integer NOT NULL,
	`bookId` integer NOT NULL,
	`at` integer NOT NULL,
	`page` integer NOT NULL,
	`kind` text NOT NULL,
	`total` integer NOT NULL,
	PRIMARY KEY(`memberId`, `bookId`, `at`),
	FOREIGN KEY (`memberId`) REFERENCES `members`(`memberId`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "progress_page" CHECK("progress"."page" between 0 and 2147483647),
	CONSTRAINT "progress_kind" CHECK("progress"."kind" in ('PROGRESS', 'FINISHED', 'CORRECTION'))
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `readings` (
	`readingId` integer PRIMARY KEY NOT NULL,
	`memberId` integer NOT NULL,
	`bookId` integer NOT NULL,
	`createdAt` integer NOT NULL,
	`startedAt` text,
	`finishedAt` text,
	`outcome` text,
	`quarters` integer,
	`format` text,
	`note` text,
	`isPaused` integer DEFAULT false NOT NULL,
	FOREIGN KEY (`memberId`) REFERENCES `members`(`memberId`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "readings_outcome" CHECK("readings"."outcome" in ('FINISHED', 'STOPPED')),
	CONSTRAINT "readings_finished_at" CHECK("readings"."outcome" is not null or "readings"."finishedAt" is null),
	CONSTRAINT "readings_quarters" CHECK("readings"."quarters" between 1 and 20),
	CONSTRAINT "readings_format" CHECK("readings"."format" in ('PAPER', 'EBOOK', 'AUDIO'))
);
--> statement-breakpoint
CREATE INDEX `readings_by_book` ON `readings` (`memberId`,`bookId`);--> statement-breakpoint
CREATE TABLE `tags` (
	`memberId` integer NOT NULL,
	`tagId` integer NOT NULL,
	`tag` text NOT NULL,
	`tagKey` text NOT NULL,
	`bookCount` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`memberId`, `tagId`),
	FOREIGN KEY (`memberId`) REFERENCES `members`(`memberId`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `tags_by_key` ON `tags` (`memberId`,`tagKey`);--> statement-breakpoint
ALTER TABLE `books` ADD `titleFolded` text;--> statement-breakpoint
ALTER TABLE `books` ADD `authorFolded` text;--> statement-breakpoint
ALTER TABLE `books` ADD `isbn` text;--> statement-breakpoint
ALTER TABLE `books` ADD `language` text;--> statement-breakpoint
ALTER TABLE `books` ADD `format` text;--> statement-breakpoint
ALTER TABLE `books` ADD `publishedYear` integer;--> statement-breakpoint
ALTER TABLE `books` ADD `series` text;--> statement-breakpoint
ALTER TABLE `books` ADD `seriesNumber` real;--> statement-breakpoint
ALTER TABLE `books` ADD `sourceIds` text;--> statement-breakpoint
ALTER TABLE `books` ADD `newestReadingId` integer;--> statement-breakpoint
CREATE INDEX `books_by_title` ON `books` (`memberId`,coalesce("titleFolded", lower("title")));--> statement-breakpoint
CREATE INDEX `books_by_author` ON `books` (`memberId`,coalesce("authorFolded", lower("author"))) WHERE "author" is not null;--> statement-breakpoint
CREATE INDEX `books_by_star` ON `books` (`memberId`,`star`) WHERE "star" > 0;--> statement-breakpoint
CREATE INDEX `books_by_isbn` ON `books` (`memberId`,`isbn`) WHERE "isbn" is not null;--> statement-breakpoint
ALTER TABLE `memos` ADD `contentFolded` text;--> statement-breakpoint
CREATE INDEX `memos_newest_first` ON `memos` (`memberId`);
--> statement-breakpoint
INSERT INTO authors (memberId, authorKey, author, bookCount) SELECT memberId, lower(author), min(author), count(*) FROM books WHERE author IS NOT NULL AND memberId NOT IN (SELECT memberId FROM members WHERE withdrawnAt IS NOT NULL) GROUP BY memberId, lower(author);
--> statement-breakpoint
DROP TRIGGER books_counted_in;
--> statement-breakpoint
CREATE TRIGGER books_counted_in AFTER INSERT ON books BEGIN UPDATE members SET yetBooks = yetBooks + (NEW.bookStatus = 'YET'), ingBooks = ingBooks + (NEW.bookStatus = 'ING'), doneBooks = doneBooks + (NEW.bookStatus = 'DONE'), finishedBooks = finishedBooks + (NEW.bookStatus = 'DONE' AND NEW.readEndDate IS NOT NULL), textBytes = textBytes + octet_length(concat(NEW.title, NEW.cover, NEW.author, NEW.publisher, NEW.language, NEW.series, NEW.sourceIds)) WHERE memberId = NEW.memberId; END;
--> statement-breakpoint
DROP TRIGGER books_counted_out;
--> statement-breakpoint
CREATE TRIGGER books_counted_out AFTER DELETE ON books BEGIN UPDATE members SET yetBooks = yetBooks - (OLD.bookStatus = 'YET'), ingBooks = ingBooks - (OLD.bookStatus = 'ING'), doneBooks = doneBooks - (OLD.bookStatus = 'DONE'), finishedBooks = finishedBooks - (OLD.bookStatus = 'DONE' AND OLD.readEndDate IS NOT NULL), memoBooks = memoBooks - OLD.hasMemos, textBytes = textBytes - OLD.memoBytes - octet_length(concat(OLD.title, OLD.cover, OLD.author, OLD.publisher, OLD.language, OLD.series, OLD.sourceIds)) WHERE memberId = OLD.memberId AND withdrawnAt IS NULL; END;
--> statement-breakpoint
DROP TRIGGER books_resized;
--> statement-breakpoint
CREATE TRIGGER books_resized AFTER UPDATE OF title, cover, author, publisher, language, series, sourceIds ON books WHEN octet_length(concat(NEW.title, NEW.cover, NEW.author, NEW.publisher, NEW.language, NEW.series, NEW.sourceIds)) <> octet_length(concat(OLD.title, OLD.cover, OLD.author, OLD.publisher, OLD.language, OLD.series, OLD.sourceIds)) BEGIN UPDATE members SET textBytes = textBytes + octet_length(concat(NEW.title, NEW.cover, NEW.author, NEW.publisher, NEW.language, NEW.series, NEW.sourceIds)) - octet_length(concat(OLD.title, OLD.cover, OLD.author, OLD.publisher, OLD.language, OLD.series, OLD.sourceIds)) WHERE memberId = NEW.memberId; END;
--> statement-breakpoint
CREATE TRIGGER books_author_added AFTER INSERT ON books WHEN NEW.author IS NOT NULL BEGIN INSERT INTO authors (memberId, authorKey, author, bookCount) VALUES (NEW.memberId, coalesce(NEW.authorFolded, lower(NEW.author)), NEW.author, 1) ON CONFLICT DO UPDATE SET bookCount = bookCount + 1; END;
--> statement-breakpoint
CREATE TRIGGER books_author_removed AFTER DELETE ON books WHEN OLD.author IS NOT NULL BEGIN DELETE FROM authors WHERE memberId = OLD.memberId AND authorKey = coalesce(OLD.authorFolded, lower(OLD.author)) AND bookCount = 1; UPDATE authors SET bookCount = bookCount - 1 WHERE memberId = OLD.memberId AND authorKey = coalesce(OLD.authorFolded, lower(OLD.author)) AND bookCount > 1; END;
--> statement-breakpoint
CREATE TRIGGER books_author_changed AFTER UPDATE OF author, authorFolded ON books WHEN coalesce(OLD.authorFolded, lower(OLD.author)) IS NOT coalesce(NEW.authorFolded, lower(NEW.author)) BEGIN DELETE FROM authors WHERE memberId = OLD.memberId AND authorKey = coalesce(OLD.authorFolded, lower(OLD.author)) AND bookCount = 1; UPDATE authors SET bookCount = bookCount - 1 WHERE memberId = OLD.memberId AND authorKey = coalesce(OLD.authorFolded, lower(OLD.author)) AND bookCount > 1; INSERT INTO authors (memberId, authorKey, author, bookCount) SELECT NEW.memberId, coalesce(NEW.authorFolded, lower(NEW.author)), NEW.author, 1 WHERE NEW.author IS NOT NULL ON CONFLICT DO UPDATE SET bookCount = bookCount + 1; END;
--> statement-breakpoint
CREATE TRIGGER bookTags_counted_in AFTER INSERT ON bookTags BEGIN UPDATE tags SET bookCount = bookCount + 1 WHERE memberId = NEW.memberId AND tagId = NEW.tagId; END;
--> statement-breakpoint
CREATE TRIGGER bookTags_counted_out AFTER DELETE ON bookTags BEGIN DELETE FROM tags WHERE memberId = OLD.memberId AND tagId = OLD.tagId AND bookCount = 1; UPDATE tags SET bookCount = bookCount - 1 WHERE memberId = OLD.memberId AND tagId = OLD.tagId AND bookCount > 1; END;
--> statement-breakpoint
CREATE TRIGGER books_details_deleted AFTER DELETE ON books BEGIN DELETE FROM readings WHERE memberId = OLD.memberId AND bookId = OLD.bookId; DELETE FROM progress WHERE memberId = OLD.memberId AND bookId = OLD.bookId; DELETE FROM bookTags WHERE memberId = OLD.memberId AND bookId = OLD.bookId; END;
--> statement-breakpoint
CREATE TRIGGER books_progressed AFTER UPDATE OF currentPage, bookStatus ON books WHEN NEW.currentPage <> OLD.currentPage OR ( NEW.bookStatus = 'DONE' AND OLD.bookStatus <> 'DONE' AND ( NEW.newestReadingId IS OLD.newestReadingId OR ( NEW.newestReadingId = -OLD.newestReadingId AND (SELECT outcome FROM readings WHERE readingId = OLD.newestReadingId) = 'FINISHED' ) ) ) BEGIN INSERT INTO progress (memberId, bookId, at, page, kind, total) SELECT NEW.memberId, NEW.bookId, max(CAST(unixepoch('subsec') * 1000 AS INTEGER), coalesce(latest.at + 1, 0)), NEW.currentPage, iif( NEW.bookStatus = 'DONE' AND OLD.bookStatus <> 'DONE', 'FINISHED', iif( NEW.currentPage > OLD.currentPage OR (NEW.bookStatus = 'ING' AND OLD.bookStatus <> 'ING') OR coalesce((SELECT createdAt FROM readings WHERE readingId = NEW.newestReadingId), 0) > coalesce(max(latest.at, 0), 0), 'PROGRESS', 'CORRECTION' ) ), coalesce(latest.total, 0) + 1 FROM (SELECT 1) LEFT JOIN ( SELECT at, page, total FROM progress WHERE memberId = NEW.memberId AND bookId = NEW.bookId ORDER BY at DESC LIMIT 1 ) AS latest WHERE latest.page IS NOT NEW.currentPage OR NEW.currentPage = OLD.currentPage; END;
--> statement-breakpoint
CREATE TRIGGER progress_added_late AFTER INSERT ON progress WHEN NEW.total <= 10000 AND EXISTS (SELECT 1 FROM progress WHERE memberId = NEW.memberId AND bookId = NEW.bookId AND at > NEW.at) BEGIN UPDATE progress SET total = NEW.total WHERE memberId = NEW.memberId AND bookId = NEW.bookId AND at = (SELECT max(at) FROM progress WHERE memberId = NEW.memberId AND bookId = NEW.bookId); END;
--> statement-breakpoint
CREATE TRIGGER progress_limited AFTER INSERT ON progress WHEN NEW.total > 10000 BEGIN DELETE FROM progress WHERE memberId = NEW.memberId AND bookId = NEW.bookId AND kind <> 'FINISHED' AND at IN ( SELECT at FROM ( SELECT at, lead(at) OVER (ORDER BY at) AS next FROM (SELECT at FROM progress WHERE memberId = NEW.memberId AND bookId = NEW.bookId ORDER BY at LIMIT 1000) ) WHERE next / 86400000 = at / 86400000 ); UPDATE progress SET total = NEW.total - changes() WHERE memberId = NEW.memberId AND bookId = NEW.bookId AND at = (SELECT max(at) FROM progress WHERE memberId = NEW.memberId AND bookId = NEW.bookId); DELETE FROM progress WHERE memberId = NEW.memberId AND bookId = NEW.bookId AND at = (SELECT min(at) FROM progress WHERE memberId = NEW.memberId AND bookId = NEW.bookId) AND (SELECT total FROM progress WHERE memberId = NEW.memberId AND bookId = NEW.bookId ORDER BY at DESC LIMIT 1) > 10000; UPDATE progress SET total = total - changes() WHERE memberId = NEW.memberId AND bookId = NEW.bookId AND at = (SELECT max(at) FROM progress WHERE memberId = NEW.memberId AND bookId = NEW.bookId) AND changes() > 0; END;
--> statement-breakpoint
CREATE TRIGGER books_first_reading_kept AFTER UPDATE OF bookStatus ON books WHEN OLD.newestReadingId IS NULL AND NEW.newestReadingId IS NULL AND OLD.bookStatus = 'DONE' AND NEW.bookStatus <> 'DONE' BEGIN INSERT INTO readings (readingId, memberId, bookId, createdAt, startedAt, finishedAt, outcome, quarters) VALUES ( OLD.bookId, OLD.memberId, OLD.bookId, 0, substr(OLD.readStartDate, 1, 10), substr(OLD.readEndDate, 1, 10), 'FINISHED', nullif(iif(NEW.bookStatus = 'YET', NEW.star, OLD.star) * 4, 0) ); INSERT INTO readings (readingId, memberId, bookId, createdAt, startedAt, quarters) SELECT 1 + max( ((NEW.bookId >> 40) << 40) + (1 << 39), coalesce((SELECT max(readingId) FROM readings WHERE readingId < ((NEW.bookId >> 40) + 1) << 40), 0), coalesce((SELECT id FROM retiredIds WHERE tableName = 'readings'), 0) ), NEW.memberId, NEW.bookId, CAST(unixepoch('subsec') * 1000 AS INTEGER), iif(NEW.readStartDate IS NOT OLD.readStartDate, substr(NEW.readStartDate, 1, 10), NULL), iif(NEW.star <> OLD.star, nullif(NEW.star * 4, 0), NULL) WHERE NEW.bookStatus = 'ING'; UPDATE books SET newestReadingId = (SELECT max(readingId) FROM readings WHERE memberId = NEW.memberId AND bookId = NEW.bookId) WHERE bookId = NEW.bookId; END;
--> statement-breakpoint
CREATE TRIGGER books_newest_reading_changed AFTER UPDATE OF bookStatus, readStartDate, readEndDate, star ON books WHEN OLD.newestReadingId = NEW.newestReadingId AND ( NEW.bookStatus <> OLD.bookStatus OR NEW.star <> OLD.star OR NEW.readStartDate IS NOT OLD.readStartDate OR NEW.readEndDate IS NOT OLD.readEndDate ) BEGIN INSERT INTO readings (readingId, memberId, bookId, createdAt, startedAt, finishedAt, outcome, quarters) SELECT 1 + max( ((NEW.bookId >> 40) << 40) + (1 << 39), coalesce((SELECT max(readingId) FROM readings WHERE readingId < ((NEW.bookId >> 40) + 1) << 40), 0), coalesce((SELECT id FROM retiredIds WHERE tableName = 'readings'), 0) ), NEW.memberId, NEW.bookId, CAST(unixepoch('subsec') * 1000 AS INTEGER), iif(NEW.readStartDate IS OLD.readStartDate AND began = startedAt, NULL, began), iif(NEW.bookStatus = 'DONE', ended, NULL), iif(NEW.bookStatus = 'DONE', 'FINISHED', NULL), iif(NEW.star <> OLD.star, nullif(NEW.star * 4, 0), NULL) FROM ( SELECT startedAt, finishedAt, outcome, iif( NEW.readStartDate IS OLD.readStartDate AND EXISTS ( SELECT 1 FROM readings AS other WHERE other.memberId = NEW.memberId AND other.bookId = NEW.bookId AND other.readingId <> NEW.newestReadingId AND other.startedAt = substr(NEW.readStartDate, 1, 10) ) AND startedAt IS NOT substr(NEW.readStartDate, 1, 10), NULL, substr(NEW.readStartDate, 1, 10) ) AS began, iif( NEW.readEndDate IS OLD.readEndDate AND EXISTS ( SELECT 1 FROM readings AS other WHERE other.memberId = NEW.memberId AND other.bookId = NEW.bookId AND other.readingId <> NEW.newestReadingId AND other.finishedAt = substr(NEW.readEndDate, 1, 10) ) AND finishedAt IS NOT substr(NEW.readEndDate, 1, 10), NULL, substr(NEW.readEndDate, 1, 10) ) AS ended FROM readings WHERE readingId = NEW.newestReadingId AND outcome IS NOT NULL ) WHERE (NEW.bookStatus = 'ING' OR (NEW.bookStatus = 'DONE' AND OLD.bookStatus = 'YET')) AND NOT ( outcome = 'STOPPED' AND finishedAt IS NULL AND (startedAt IS NULL OR iif(length(startedAt) = 10, startedAt, NULL) IS began) ) AND NOT ( NEW.bookStatus = 'DONE' AND iif( outcome = 'STOPPED', NEW.readEndDate IS NULL AND finishedAt IS NOT NULL, iif(length(finishedAt) = 10, finishedAt, NULL) IS ended ) ) AND (SELECT count(*) FROM readings WHERE memberId = NEW.memberId AND bookId = NEW.bookId) < 200; UPDATE books SET newestReadingId = (SELECT max(readingId) FROM readings WHERE memberId = NEW.memberId AND bookId = NEW.bookId) WHERE bookId = NEW.bookId AND changes() = 1; UPDATE readings SET startedAt = iif( (NEW.readStartDate IS OLD.readStartDate AND OLD.bookStatus <> 'YET') OR (NEW.readStartDate IS NULL AND length(startedAt) < 10), startedAt, iif( NEW.readStartDate IS OLD.readStartDate AND startedAt IS NOT substr(NEW.readStartDate, 1, 10) AND EXISTS ( SELECT 1 FROM readings AS other WHERE other.memberId = NEW.memberId AND other.bookId = NEW.bookId AND other.readingId <> NEW.newestReadingId AND other.startedAt = substr(NEW.readStartDate, 1, 10) ), iif(length(startedAt) < 10, startedAt, NULL), substr(NEW.readStartDate, 1, 10) ) ), finishedAt = iif( NEW.bookStatus = 'ING', NULL, iif( (NEW.readEndDate IS OLD.readEndDate AND OLD.bookStatus = 'DONE') OR (NEW.readEndDate IS NULL AND (length(finishedAt) < 10 OR outcome = 'STOPPED')), finishedAt, iif( NEW.readEndDate IS OLD.readEndDate AND finishedAt IS NOT substr(NEW.readEndDate, 1, 10) AND EXISTS ( SELECT 1 FROM readings AS other WHERE other.memberId = NEW.memberId AND other.bookId = NEW.bookId AND other.readingId <> NEW.newestReadingId AND other.finishedAt = substr(NEW.readEndDate, 1, 10) ), iif(length(finishedAt) < 10, finishedAt, NULL), substr(NEW.readEndDate, 1, 10) ) ) ), outcome = iif( NEW.bookStatus = 'ING', NULL, iif( NEW.readEndDate IS NULL AND outcome = 'STOPPED' AND (OLD.bookStatus = 'DONE' OR finishedAt IS NOT NULL), outcome, 'FINISHED' ) ), quarters = iif( NEW.star = OLD.star OR NEW.star = coalesce(max(1, (quarters + 2) / 4), 0), quarters, nullif(NEW.star * 4, 0) ), isPaused = isPaused AND NEW.bookStatus = 'ING' WHERE readingId = NEW.newestReadingId AND NEW.bookStatus <> 'YET' AND (SELECT newestReadingId FROM books WHERE bookId = NEW.bookId) = NEW.newestReadingId; UPDATE readings SET outcome = coalesce(outcome, 'STOPPED'), quarters = iif( NEW.star = OLD.star OR NEW.star = coalesce(max(1, (quarters + 2) / 4), 0), quarters, nullif(NEW.star * 4, 0) ), isPaused = 0 WHERE readingId = NEW.newestReadingId AND NEW.bookStatus = 'YET' AND (OLD.bookStatus <> 'YET' OR NEW.star <> OLD.star); END;
--> statement-breakpoint
CREATE TRIGGER readings_counted_in AFTER INSERT ON readings WHEN NEW.note IS NOT NULL BEGIN UPDATE members SET textBytes = textBytes + octet_length(NEW.note) WHERE memberId = NEW.memberId; END;
--> statement-breakpoint
CREATE TRIGGER readings_counted_out AFTER DELETE ON readings WHEN OLD.note IS NOT NULL BEGIN UPDATE members SET textBytes = textBytes - octet_length(OLD.note) WHERE memberId = OLD.memberId AND withdrawnAt IS NULL; END;
--> statement-breakpoint
CREATE TRIGGER readings_resized AFTER UPDATE OF note ON readings WHEN octet_length(concat(NEW.note)) <> octet_length(concat(OLD.note)) BEGIN UPDATE members SET textBytes = textBytes + octet_length(concat(NEW.note)) - octet_length(concat(OLD.note)) WHERE memberId = NEW.memberId; END;
--> statement-breakpoint
CREATE TRIGGER readings_id_retired AFTER DELETE ON readings WHEN OLD.readingId <> OLD.bookId AND OLD.readingId > (SELECT coalesce(max(readingId), 0) FROM readings) BEGIN INSERT OR REPLACE INTO retiredIds (tableName, id) SELECT 'readings', max(OLD.readingId, coalesce((SELECT id FROM retiredIds WHERE tableName = 'readings'), 0)); END;
