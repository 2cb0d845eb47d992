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
CREATE TABLE `books` (
	`bookId` integer PRIMARY KEY NOT NULL,
	`memberId` integer NOT NULL,
	`title` text NOT NULL,
	`subtitle` text,
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
	`memoBytes` integer DEFAULT 0 NOT NULL,
	`lastMemoId` integer,
	`eventBlocks` integer DEFAULT 0 NOT NULL,
	`titleFolded` text,
	`subtitleFolded` text,
	`authorFolded` text,
	`publisherFolded` text,
	`isbn` text,
	`language` text,
	`format` text,
	`publishedYear` integer,
	`series` text,
	`seriesNumber` real,
	`seconds` integer,
	`sourceIds` text,
	`mergedBooks` integer DEFAULT 0 NOT NULL,
	`readingId` integer,
	`startedAt` text,
	`finishedAt` text,
	`isStopped` integer DEFAULT false NOT NULL,
	`quarters` integer,
	`readingFormat` text,
	`isPaused` integer DEFAULT false NOT NULL,
	`readingSince` integer DEFAULT 0 NOT NULL,
	`archivedId` integer,
	`archivedStart` text,
	`archivedEnd` text,
	`archivedStar` integer,
	`importId` integer,
	`activityAt` integer,
	`note` text,
	FOREIGN KEY (`memberId`) REFERENCES `members`(`memberId`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "books_status" CHECK("books"."bookStatus" in ('YET', 'ING', 'DONE')),
	CONSTRAINT "books_star" CHECK("books"."star" between 0 and 5),
	CONSTRAINT "books_is_stopped" CHECK("books"."isStopped" between 0 and 1),
	CONSTRAINT "books_is_paused" CHECK("books"."isPaused" between 0 and 1),
	CONSTRAINT "books_quarters" CHECK("books"."quarters" between 1 and 20),
	CONSTRAINT "books_reading_format" CHECK("books"."readingFormat" is null or "books"."readingFormat" in ('PAPER', 'EBOOK', 'AUDIO')),
	CONSTRAINT "books_current_page" CHECK("books"."currentPage" between 0 and 2147483647),
	CONSTRAINT "books_item_page" CHECK("books"."itemPage" between 0 and 2147483647),
	CONSTRAINT "books_seconds" CHECK("books"."seconds" > 0),
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
CREATE INDEX `books_by_title` ON `books` (`memberId`,coalesce("titleFolded", lower("title")));--> statement-breakpoint
CREATE INDEX `books_by_author` ON `books` (`memberId`,coalesce("authorFolded", lower("author"))) WHERE "author" is not null;--> statement-breakpoint
CREATE INDEX `books_by_star` ON `books` (`memberId`,`star`) WHERE "star" > 0;--> statement-breakpoint
CREATE INDEX `books_by_activity` ON `books` (`memberId`,`bookStatus`,`activityAt`) WHERE "activityAt" is not null;--> statement-breakpoint
CREATE INDEX `books_by_reading` ON `books` (`readingId`) WHERE "readingId" is not null;--> statement-breakpoint
CREATE INDEX `books_finished_apart` ON `books` (`memberId`,`finishedAt`) WHERE "bookStatus" = 'DONE' and "finishedAt" is not null;--> statement-breakpoint
CREATE INDEX `books_paused` ON `books` (`memberId`) WHERE "bookStatus" = 'ING' and "isPaused" = 1;--> statement-breakpoint
CREATE INDEX `books_by_isbn` ON `books` (`memberId`,`isbn`) WHERE "isbn" is not null;--> statement-breakpoint
CREATE INDEX `books_by_format` ON `books` (`memberId`,`format`) WHERE "format" is not null;--> statement-breakpoint
CREATE INDEX `books_by_series` ON `books` (`memberId`,`series`,`seriesNumber`) WHERE "series" is not null;--> statement-breakpoint
CREATE TABLE `retiredIds` (
	`tableName` text PRIMARY KEY NOT NULL,
	`id` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `tags` (
	`memberId` integer NOT NULL,
	`tagId` integer NOT NULL,
	`tag` text NOT NULL,
	`tagKey` text NOT NULL,
	`bookCount` integer DEFAULT 0 NOT NULL,
	`blocks` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`memberId`, `tagId`),
	FOREIGN KEY (`memberId`) REFERENCES `members`(`memberId`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `tags_by_key` ON `tags` (`memberId`,`tagKey`);--> statement-breakpoint
CREATE TABLE `accountCodes` (
	`codeHash` text PRIMARY KEY NOT NULL,
	`subject` text NOT NULL,
	`memberId` integer NOT NULL,
	`slot` integer NOT NULL,
	`credentialsVersion` integer NOT NULL,
	`expiresAt` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `accountCodes_by_subject` ON `accountCodes` (`subject`);--> statement-breakpoint
CREATE INDEX `accountCodes_by_expiry` ON `accountCodes` (`expiresAt`);--> statement-breakpoint
CREATE TABLE `attempts` (
	`attemptId` integer PRIMARY KEY NOT NULL,
	`subject` text NOT NULL,
	`at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `attempts_by_subject` ON `attempts` (`subject`,`at`);--> statement-breakpoint
CREATE TABLE `dailyMails` (
	`day` integer PRIMARY KEY NOT NULL,
	`mails` integer NOT NULL,
	`tokenMails` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE `emailUndos` (
	`undoId` integer PRIMARY KEY NOT NULL,
	`memberId` integer NOT NULL,
	`codeHash` text NOT NULL,
	`email` text NOT NULL,
	`expiresAt` integer NOT NULL,
	FOREIGN KEY (`memberId`) REFERENCES `members`(`memberId`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `emailUndos_by_code` ON `emailUndos` (`codeHash`);--> statement-breakpoint
CREATE INDEX `emailUndos_by_member` ON `emailUndos` (`memberId`);--> statement-breakpoint
CREATE INDEX `emailUndos_by_email` ON `emailUndos` (lower("email"));--> statement-breakpoint
CREATE INDEX `emailUndos_by_expiry` ON `emailUndos` (`expiresAt`);--> statement-breakpoint
CREATE TABLE `joinCodes` (
	`subject` text PRIMARY KEY NOT NULL,
	`codeHash` text NOT NULL,
	`issuedAt` integer NOT NULL,
	`expiresAt` integer NOT NULL,
	`address` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `joinCodes_by_address` ON `joinCodes` (`address`);--> statement-breakpoint
CREATE TABLE `documents` (
	`memberId` integer NOT NULL,
	`document` text NOT NULL,
	`createdAt` integer NOT NULL,
	`title` text,
	`authors` text,
	`filename` text,
	`bookId` integer,
	`isByHand` integer DEFAULT false NOT NULL,
	`tokenId` text,
	`linkedAt` integer,
	`seconds` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`memberId`, `document`),
	FOREIGN KEY (`memberId`) REFERENCES `members`(`memberId`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `documents_by_time` ON `documents` (`memberId`,`createdAt`);--> statement-breakpoint
CREATE INDEX `documents_by_token` ON `documents` (`memberId`,`tokenId`,`linkedAt`) WHERE "tokenId" is not null;--> statement-breakpoint
CREATE INDEX `documents_waiting` ON `documents` (`memberId`,`document`) WHERE "bookId" is null and "isByHand" = 0 and "seconds" > 0 and "title" is not null and "authors" is not null;--> statement-breakpoint
CREATE INDEX `documents_by_book` ON `documents` (`memberId`,`bookId`) WHERE "bookId" is not null;--> statement-breakpoint
CREATE TABLE `positions` (
	`memberId` integer NOT NULL,
	`document` text NOT NULL,
	`tokenId` text NOT NULL,
	`at` integer NOT NULL,
	`percentage` real NOT NULL,
	`isReplayed` integer DEFAULT false NOT NULL,
	`progress` text NOT NULL,
	`device` text NOT NULL,
	`deviceId` text NOT NULL,
	PRIMARY KEY(`memberId`, `document`, `tokenId`),
	FOREIGN KEY (`memberId`) REFERENCES `members`(`memberId`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "positions_percentage" CHECK("positions"."percentage" between 0 and 1)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `positions_by_token` ON `positions` (`memberId`,`tokenId`,`at`);--> statement-breakpoint
CREATE TABLE `sittings` (
	`memberId` integer NOT NULL,
	`tokenId` text NOT NULL,
	`at` integer NOT NULL,
	`document` text NOT NULL,
	`day` text NOT NULL,
	`seconds` integer NOT NULL,
	PRIMARY KEY(`memberId`, `tokenId`, `at`, `document`, `day`),
	FOREIGN KEY (`memberId`) REFERENCES `members`(`memberId`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "sittings_seconds" CHECK("sittings"."seconds" > 0)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `sittings_by_document` ON `sittings` (`memberId`,`document`,`day`,`seconds`);--> statement-breakpoint
CREATE INDEX `sittings_by_day` ON `sittings` (`memberId`,`day`,`document`,`seconds`);--> statement-breakpoint
CREATE TABLE `statisticsFiles` (
	`memberId` integer PRIMARY KEY NOT NULL,
	`file` text,
	`hash` text,
	`bytes` integer DEFAULT 0 NOT NULL,
	`missing` text,
	`missingBytes` integer DEFAULT 0 NOT NULL,
	`sittings` integer DEFAULT 0 NOT NULL,
	`uploadedAt` integer NOT NULL,
	FOREIGN KEY (`memberId`) REFERENCES `members`(`memberId`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `importRows` (
	`memberId` integer NOT NULL,
	`importId` integer NOT NULL,
	`row` integer NOT NULL,
	`line` integer NOT NULL,
	`title` text,
	`outcome` text NOT NULL,
	`code` text,
	`losses` text,
	`bookId` integer,
	`cells` text,
	`undo` text,
	`texts` text,
	PRIMARY KEY(`memberId`, `importId`, `row`),
	FOREIGN KEY (`memberId`) REFERENCES `members`(`memberId`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "importRows_outcome" CHECK("importRows"."outcome" in ('created', 'updated', 'unchanged', 'skipped', 'failed'))
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `imports` (
	`memberId` integer NOT NULL,
	`importId` integer NOT NULL,
	`status` text NOT NULL,
	`isDryRun` integer NOT NULL,
	`merge` text NOT NULL,
	`format` text NOT NULL,
	`encoding` text NOT NULL,
	`tokenId` text,
	`fileHash` text,
	`fileName` text,
	`unknownColumns` text,
	`columns` text,
	`options` text NOT NULL,
	`file` text,
	`total` integer NOT NULL,
	`done` integer DEFAULT 0 NOT NULL,
	`created` integer DEFAULT 0 NOT NULL,
	`updated` integer DEFAULT 0 NOT NULL,
	`unchanged` integer DEFAULT 0 NOT NULL,
	`skipped` integer DEFAULT 0 NOT NULL,
	`failed` integer DEFAULT 0 NOT NULL,
	`reportBytes` integer DEFAULT 0 NOT NULL,
	`reason` text,
	`leaseEndsAt` integer DEFAULT 0 NOT NULL,
	`lease` integer DEFAULT 0 NOT NULL,
	`continuations` integer DEFAULT 0 NOT NULL,
	`isDeleted` integer DEFAULT false NOT NULL,
	PRIMARY KEY(`memberId`, `importId`),
	FOREIGN KEY (`memberId`) REFERENCES `members`(`memberId`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "imports_status" CHECK("imports"."status" in ('RUNNING', 'DONE', 'FAILED')),
	CONSTRAINT "imports_merge" CHECK("imports"."merge" in ('fill', 'overwrite'))
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `imports_with_file` ON `imports` (`importId`) WHERE "file" is not null;--> statement-breakpoint
CREATE INDEX `imports_by_time` ON `imports` (`importId`);--> statement-breakpoint
CREATE TABLE `accessTokens` (
	`tokenHash` text PRIMARY KEY NOT NULL,
	`memberId` integer NOT NULL,
	`tokenId` text NOT NULL,
	`name` text NOT NULL,
	`scopes` integer NOT NULL,
	`hint` text NOT NULL,
	`createdAt` integer NOT NULL,
	`expiresAt` integer,
	`lastUsedDay` integer,
	`startsBooks` integer DEFAULT false NOT NULL,
	`kind` text,
	`bookStatus` text,
	`tagId` integer,
	`year` integer,
	`showName` integer,
	FOREIGN KEY (`memberId`) REFERENCES `members`(`memberId`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `links_by_tag` ON `accessTokens` (`memberId`,`tagId`) WHERE "tagId" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `accessTokens_by_member` ON `accessTokens` (`memberId`,`tokenId`);--> statement-breakpoint
CREATE INDEX `accessTokens_by_expiry` ON `accessTokens` (`expiresAt`) WHERE "expiresAt" is not null;--> statement-breakpoint
CREATE TABLE `activity` (
	`memberId` integer NOT NULL,
	`isFailedLogin` integer NOT NULL,
	`entry` integer NOT NULL,
	`at` integer NOT NULL,
	`kind` text NOT NULL,
	`device` text,
	`country` text,
	`count` integer DEFAULT 1 NOT NULL,
	`firstAt` integer,
	PRIMARY KEY(`memberId`, `isFailedLogin`, `entry`),
	FOREIGN KEY (`memberId`) REFERENCES `members`(`memberId`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "activity_failed_login" CHECK("activity"."isFailedLogin" = ("activity"."kind" = 'LOGIN_FAILED'))
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `activity_by_time` ON `activity` (`at`);--> statement-breakpoint
CREATE TABLE `members` (
	`memberId` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`email` text NOT NULL,
	`name` text NOT NULL,
	`passwordHash` text NOT NULL,
	`createdAt` text NOT NULL,
	`updatedAt` text NOT NULL,
	`yetBooks` integer DEFAULT 0 NOT NULL,
	`ingBooks` integer DEFAULT 0 NOT NULL,
	`doneBooks` integer DEFAULT 0 NOT NULL,
	`finishedBooks` integer DEFAULT 0 NOT NULL,
	`undatedBooks` integer DEFAULT 0 NOT NULL,
	`memoBooks` integer DEFAULT 0 NOT NULL,
	`textBytes` integer DEFAULT 0 NOT NULL,
	`imageCount` integer DEFAULT 0 NOT NULL,
	`imageBytes` integer DEFAULT 0 NOT NULL,
	`keyCount` integer DEFAULT 0 NOT NULL,
	`withdrawnAt` integer,
	`credentialsVersion` integer DEFAULT 0 NOT NULL,
	`blockedAt` integer,
	`maxBooks` integer,
	`maxTextBytes` integer,
	`maxImageBytes` integer,
	`timeZone` text,
	CONSTRAINT "members_created_at" CHECK("members"."createdAt" is strftime('%Y-%m-%dT%H:%M:%S', "members"."createdAt")),
	CONSTRAINT "members_updated_at" CHECK("members"."updatedAt" is strftime('%Y-%m-%dT%H:%M:%S', "members"."updatedAt"))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `members_email` ON `members` (lower("email"));--> statement-breakpoint
CREATE TABLE `operatorLog` (
	`entryId` integer PRIMARY KEY NOT NULL,
	`at` integer NOT NULL,
	`action` text NOT NULL,
	`memberId` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `purgeJobs` (
	`memberId` integer PRIMARY KEY NOT NULL,
	`createdAt` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `sessions` (
	`memberId` integer NOT NULL,
	`sessionId` text NOT NULL,
	`createdAt` integer NOT NULL,
	`renewedAt` integer NOT NULL,
	`expiresAt` integer NOT NULL,
	`device` text,
	`country` text,
	PRIMARY KEY(`memberId`, `sessionId`),
	FOREIGN KEY (`memberId`) REFERENCES `members`(`memberId`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `sessions_by_expiry` ON `sessions` (`expiresAt`);--> statement-breakpoint
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
	`contentFolded` text,
	`version` integer DEFAULT 0 NOT NULL,
	`importId` integer,
	`importVersion` integer,
	`importSource` text,
	FOREIGN KEY (`bookId`) REFERENCES `books`(`bookId`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "memos_type" CHECK("memos"."memoType" in ('BOOK_CONTENT', 'SUMMARY', 'THOUGHT', 'QUESTION')),
	CONSTRAINT "memos_authority" CHECK("memos"."memoAuthority" in ('PRIVATE', 'PUBLIC')),
	CONSTRAINT "memos_book_page" CHECK("memos"."memoBookPage" between 0 and 2147483647),
	CONSTRAINT "memos_likes_count" CHECK("memos"."memoLikesCount" >= 0),
	CONSTRAINT "memos_created_at" CHECK("memos"."createdAt" is strftime('%Y-%m-%dT%H:%M:%S', "memos"."createdAt")),
	CONSTRAINT "memos_updated_at" CHECK("memos"."updatedAt" is strftime('%Y-%m-%dT%H:%M:%S', "memos"."updatedAt"))
);
--> statement-breakpoint
CREATE INDEX `memos_newest_first` ON `memos` (`memberId`);--> statement-breakpoint
CREATE INDEX `memos_by_time` ON `memos` (`memberId`,`createdAt`);--> statement-breakpoint
CREATE INDEX `memos_public` ON `memos` (`memberId`) WHERE "memoAuthority" = 'PUBLIC';--> statement-breakpoint
CREATE INDEX `memos_by_type` ON `memos` (`bookId`,`memoType`);--> statement-breakpoint
CREATE UNIQUE INDEX `memos_by_position` ON `memos` (`memberId`,`position`);--> statement-breakpoint
CREATE TABLE `goals` (
	`memberId` integer NOT NULL,
	`year` integer NOT NULL,
	`metric` text NOT NULL,
	`target` integer NOT NULL,
	PRIMARY KEY(`memberId`, `year`),
	FOREIGN KEY (`memberId`) REFERENCES `members`(`memberId`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "goals_metric" CHECK("goals"."metric" in ('BOOKS', 'PAGES')),
	CONSTRAINT "goals_target" CHECK("goals"."target" > 0)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `progress` (
	`memberId` integer NOT NULL,
	`bookId` integer NOT NULL,
	`at` integer NOT NULL,
	`page` integer NOT NULL,
	`kind` text NOT NULL,
	`total` integer NOT NULL,
	`minutes` integer,
	`seconds` integer,
	`tokenId` text,
	`pageBefore` integer,
	`begins` integer,
	PRIMARY KEY(`memberId`, `bookId`, `at`),
	FOREIGN KEY (`memberId`) REFERENCES `members`(`memberId`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "progress_page" CHECK("progress"."page" between 0 and 2147483647),
	CONSTRAINT "progress_minutes" CHECK("progress"."minutes" between 1 and 1440),
	CONSTRAINT "progress_kind" CHECK("progress"."kind" in ('PROGRESS', 'FINISHED', 'CORRECTION', 'UNDATED'))
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `progress_by_time` ON `progress` (`memberId`,`at`) WHERE "kind" <> 'UNDATED';--> statement-breakpoint
CREATE INDEX `progress_timed` ON `progress` (`memberId`,`at`) WHERE "minutes" is not null and "kind" <> 'UNDATED';--> statement-breakpoint
CREATE INDEX `progress_by_token` ON `progress` (`memberId`,`tokenId`,`at`) WHERE "tokenId" is not null;--> statement-breakpoint
CREATE TABLE `readings` (
	`readingId` integer PRIMARY KEY NOT NULL,
	`memberId` integer NOT NULL,
	`bookId` integer NOT NULL,
	`createdAt` integer NOT NULL,
	`startedAt` text,
	`finishedAt` text,
	`outcome` text NOT NULL,
	`quarters` integer,
	`format` text,
	`note` text,
	FOREIGN KEY (`memberId`) REFERENCES `members`(`memberId`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "readings_outcome" CHECK("readings"."outcome" in ('FINISHED', 'STOPPED')),
	CONSTRAINT "readings_quarters" CHECK("readings"."quarters" between 1 and 20),
	CONSTRAINT "readings_format" CHECK("readings"."format" in ('PAPER', 'EBOOK', 'AUDIO'))
);
--> statement-breakpoint
CREATE INDEX `readings_by_book` ON `readings` (`memberId`,`bookId`);--> statement-breakpoint
CREATE INDEX `readings_by_date` ON `readings` (`memberId`,`finishedAt`) WHERE "finishedAt" is not null;--> statement-breakpoint
CREATE INDEX `readings_finished` ON `readings` (`memberId`,`finishedAt`) WHERE "outcome" = 'FINISHED' and length("finishedAt") = 10;--> statement-breakpoint
CREATE TABLE `addresses` (
	`addressHash` blob PRIMARY KEY NOT NULL,
	`memberId` integer NOT NULL,
	`slot` integer NOT NULL,
	`claimId` integer NOT NULL,
	`state` text NOT NULL,
	`settleAt` integer,
	CONSTRAINT "addresses_hash" CHECK(length("addresses"."addressHash") = 16),
	CONSTRAINT "addresses_state" CHECK("addresses"."state" in ('CLAIMED', 'HELD', 'RESERVED')),
	CONSTRAINT "addresses_settle_at" CHECK(("addresses"."state" = 'HELD') = ("addresses"."settleAt" is null))
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `addresses_by_member` ON `addresses` (`memberId`);--> statement-breakpoint
CREATE INDEX `addresses_to_settle` ON `addresses` (`settleAt`) WHERE "settleAt" is not null;--> statement-breakpoint
CREATE TABLE `settledClaims` (
	`claimId` integer PRIMARY KEY NOT NULL,
	`settledAt` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `slotCounters` (
	`slot` integer PRIMARY KEY NOT NULL,
	`lastClaimId` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `slotMarks` (
	`slot` integer PRIMARY KEY NOT NULL,
	`mark` text NOT NULL,
	`isConfirmed` integer DEFAULT false NOT NULL
);
--> statement-breakpoint
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
CREATE TABLE `idempotencyKeys` (
	`memberId` integer NOT NULL,
	`keyHash` blob NOT NULL,
	`requestHash` blob NOT NULL,
	`id` integer NOT NULL,
	`name` text,
	`day` integer NOT NULL,
	PRIMARY KEY(`memberId`, `keyHash`),
	FOREIGN KEY (`memberId`) REFERENCES `members`(`memberId`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `trash` (
	`trashId` integer PRIMARY KEY NOT NULL,
	`memberId` integer NOT NULL,
	`deletedAt` integer NOT NULL,
	`bookId` integer NOT NULL,
	`title` text NOT NULL,
	`memoCount` integer DEFAULT 0 NOT NULL,
	`parts` integer DEFAULT 0 NOT NULL,
	`bytes` integer NOT NULL,
	`price` integer NOT NULL,
	`data` text NOT NULL,
	FOREIGN KEY (`memberId`) REFERENCES `members`(`memberId`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `trash_by_time` ON `trash` (`memberId`,`deletedAt`);--> statement-breakpoint
CREATE TABLE `trashParts` (
	`partId` integer PRIMARY KEY NOT NULL,
	`memberId` integer NOT NULL,
	`bookId` integer NOT NULL,
	`kind` text NOT NULL,
	`data` text NOT NULL,
	FOREIGN KEY (`memberId`) REFERENCES `members`(`memberId`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `trashParts_by_book` ON `trashParts` (`memberId`,`bookId`);--> statement-breakpoint
CREATE VIEW `allReadings` AS select memberId, bookId, readingId, createdAt, startedAt, finishedAt, outcome, quarters, format, note, isPaused, 1 as isCurrent from currentReadings
    union all select memberId, bookId, readingId, createdAt, startedAt, finishedAt, outcome, quarters, format, note, 0, 0 from readings;--> statement-breakpoint
CREATE VIEW `currentReadings` AS select memberId, bookId, coalesce(readingId, bookId) as readingId, readingSince as createdAt, coalesce(nullif(substr(readStartDate, 1, 10), archivedStart), startedAt) as startedAt, iif(bookStatus = 'DONE', coalesce(nullif(substr(readEndDate, 1, 10), archivedEnd), finishedAt), NULL) as finishedAt, iif(bookStatus <> 'DONE', NULL, isStopped AND nullif(substr(readEndDate, 1, 10), archivedEnd) IS NULL, 'STOPPED', 'FINISHED') as outcome, iif(max(1, (quarters + 2) >> 2) = star, quarters, star IS archivedStar, NULL, nullif(star * 4, 0)) as quarters, readingFormat as format, note as note, (isPaused AND bookStatus = 'ING') as isPaused, bookStatus, readEndDate, archivedEnd, finishedAt as ownFinish
    from books where bookStatus <> 'YET';
--> statement-breakpoint
CREATE TRIGGER books_counted_in AFTER INSERT ON books BEGIN UPDATE members SET yetBooks = yetBooks + (NEW.bookStatus = 'YET'), ingBooks = ingBooks + (NEW.bookStatus = 'ING'), doneBooks = doneBooks + (NEW.bookStatus = 'DONE'), finishedBooks = finishedBooks + (NEW.bookStatus = 'DONE' AND NEW.readEndDate IS NOT NULL), undatedBooks = undatedBooks + (NEW.bookStatus = 'DONE' AND NEW.isStopped = 0 AND iif(NEW.bookStatus = 'DONE', coalesce(nullif(substr(NEW.readEndDate, 1, 10), NEW.archivedEnd), NEW.finishedAt), NULL) IS NULL), memoBooks = memoBooks + NEW.hasMemos, textBytes = textBytes + ((1500 + octet_length(concat(NEW.title, NEW.subtitle, NEW.cover, NEW.author, NEW.publisher, NEW.language, NEW.series, NEW.sourceIds, NEW.note)) + 3 * octet_length(concat(NEW.title)) + 1 * octet_length(concat(NEW.subtitle)) + 6 * octet_length(concat(NEW.author)) + 1 * octet_length(concat(NEW.publisher)) + 1 * octet_length(concat(NEW.series))) + NEW.memoBytes + 1300 * NEW.memoCount + 4000 * NEW.eventBlocks) WHERE memberId = NEW.memberId; END;
--> statement-breakpoint
CREATE TRIGGER books_counted_out AFTER DELETE ON books BEGIN UPDATE members SET yetBooks = yetBooks - (OLD.bookStatus = 'YET'), ingBooks = ingBooks - (OLD.bookStatus = 'ING'), doneBooks = doneBooks - (OLD.bookStatus = 'DONE'), finishedBooks = finishedBooks - (OLD.bookStatus = 'DONE' AND OLD.readEndDate IS NOT NULL), undatedBooks = undatedBooks - (OLD.bookStatus = 'DONE' AND OLD.isStopped = 0 AND iif(OLD.bookStatus = 'DONE', coalesce(nullif(substr(OLD.readEndDate, 1, 10), OLD.archivedEnd), OLD.finishedAt), NULL) IS NULL), memoBooks = memoBooks - OLD.hasMemos, textBytes = textBytes - ((1500 + octet_length(concat(OLD.title, OLD.subtitle, OLD.cover, OLD.author, OLD.publisher, OLD.language, OLD.series, OLD.sourceIds, OLD.note)) + 3 * octet_length(concat(OLD.title)) + 1 * octet_length(concat(OLD.subtitle)) + 6 * octet_length(concat(OLD.author)) + 1 * octet_length(concat(OLD.publisher)) + 1 * octet_length(concat(OLD.series))) + OLD.memoBytes + 1300 * OLD.memoCount + 4000 * OLD.eventBlocks + coalesce(( SELECT sum((1300 + octet_length(concat(note)))) FROM readings WHERE memberId = OLD.memberId AND bookId = OLD.bookId ), 0) - coalesce((SELECT bytes FROM trash WHERE trashId = OLD.bookId), 0)) WHERE memberId = OLD.memberId AND withdrawnAt IS NULL; DELETE FROM readings WHERE memberId = OLD.memberId AND bookId = OLD.bookId; DELETE FROM progress WHERE memberId = OLD.memberId AND bookId = OLD.bookId; DELETE FROM bookTags WHERE memberId = OLD.memberId AND bookId = OLD.bookId; END;
--> statement-breakpoint
CREATE TRIGGER books_recounted AFTER UPDATE OF bookStatus, readEndDate, finishedAt, isStopped, archivedEnd, readingId ON books WHEN OLD.bookStatus <> NEW.bookStatus OR (OLD.readEndDate IS NULL) <> (NEW.readEndDate IS NULL) OR (NEW.bookStatus = 'DONE' AND NEW.isStopped = 0 AND iif(NEW.bookStatus = 'DONE', coalesce(nullif(substr(NEW.readEndDate, 1, 10), NEW.archivedEnd), NEW.finishedAt), NULL) IS NULL) <> (OLD.bookStatus = 'DONE' AND OLD.isStopped = 0 AND iif(OLD.bookStatus = 'DONE', coalesce(nullif(substr(OLD.readEndDate, 1, 10), OLD.archivedEnd), OLD.finishedAt), NULL) IS NULL) OR coalesce(NEW.readingId, NEW.bookId) <> coalesce(OLD.readingId, OLD.bookId) BEGIN UPDATE members SET yetBooks = yetBooks - (OLD.bookStatus = 'YET') + (NEW.bookStatus = 'YET'), ingBooks = ingBooks - (OLD.bookStatus = 'ING') + (NEW.bookStatus = 'ING'), doneBooks = doneBooks - (OLD.bookStatus = 'DONE') + (NEW.bookStatus = 'DONE'), finishedBooks = finishedBooks - (OLD.bookStatus = 'DONE' AND OLD.readEndDate IS NOT NULL) + (NEW.bookStatus = 'DONE' AND NEW.readEndDate IS NOT NULL), undatedBooks = undatedBooks - (OLD.bookStatus = 'DONE' AND OLD.isStopped = 0 AND iif(OLD.bookStatus = 'DONE', coalesce(nullif(substr(OLD.readEndDate, 1, 10), OLD.archivedEnd), OLD.finishedAt), NULL) IS NULL) + (NEW.bookStatus = 'DONE' AND NEW.isStopped = 0 AND iif(NEW.bookStatus = 'DONE', coalesce(nullif(substr(NEW.readEndDate, 1, 10), NEW.archivedEnd), NEW.finishedAt), NULL) IS NULL), textBytes = textBytes + iif( coalesce(NEW.readingId, NEW.bookId) <> coalesce(OLD.readingId, OLD.bookId), coalesce((SELECT (1300 + octet_length(concat(note))) FROM readings WHERE readingId = coalesce(OLD.readingId, OLD.bookId)), 0), 0 ) WHERE memberId = NEW.memberId; END;
--> statement-breakpoint
CREATE TRIGGER books_status_changed AFTER UPDATE OF bookStatus ON books WHEN NEW.bookStatus <> OLD.bookStatus AND NEW.activityAt IS OLD.activityAt AND NEW.importId IS OLD.importId BEGIN UPDATE books SET activityAt = max(CAST(unixepoch('subsec') * 1000 AS INTEGER), coalesce(activityAt, 0)) WHERE bookId = NEW.bookId; END;
--> statement-breakpoint
CREATE TRIGGER books_resized AFTER UPDATE OF title, subtitle, cover, author, publisher, language, series, sourceIds, note ON books WHEN (octet_length(concat(NEW.title, NEW.subtitle, NEW.cover, NEW.author, NEW.publisher, NEW.language, NEW.series, NEW.sourceIds, NEW.note)) + 3 * octet_length(concat(NEW.title)) + 1 * octet_length(concat(NEW.subtitle)) + 6 * octet_length(concat(NEW.author)) + 1 * octet_length(concat(NEW.publisher)) + 1 * octet_length(concat(NEW.series))) <> (octet_length(concat(OLD.title, OLD.subtitle, OLD.cover, OLD.author, OLD.publisher, OLD.language, OLD.series, OLD.sourceIds, OLD.note)) + 3 * octet_length(concat(OLD.title)) + 1 * octet_length(concat(OLD.subtitle)) + 6 * octet_length(concat(OLD.author)) + 1 * octet_length(concat(OLD.publisher)) + 1 * octet_length(concat(OLD.series))) BEGIN UPDATE members SET textBytes = textBytes - (octet_length(concat(OLD.title, OLD.subtitle, OLD.cover, OLD.author, OLD.publisher, OLD.language, OLD.series, OLD.sourceIds, OLD.note)) + 3 * octet_length(concat(OLD.title)) + 1 * octet_length(concat(OLD.subtitle)) + 6 * octet_length(concat(OLD.author)) + 1 * octet_length(concat(OLD.publisher)) + 1 * octet_length(concat(OLD.series))) + (octet_length(concat(NEW.title, NEW.subtitle, NEW.cover, NEW.author, NEW.publisher, NEW.language, NEW.series, NEW.sourceIds, NEW.note)) + 3 * octet_length(concat(NEW.title)) + 1 * octet_length(concat(NEW.subtitle)) + 6 * octet_length(concat(NEW.author)) + 1 * octet_length(concat(NEW.publisher)) + 1 * octet_length(concat(NEW.series))) WHERE memberId = NEW.memberId; END;
--> statement-breakpoint
CREATE TRIGGER memos_counted_in AFTER INSERT ON memos WHEN NEW.importId IS NULL AND NOT EXISTS (SELECT 1 FROM trash WHERE trashId = NEW.bookId) BEGIN UPDATE members SET textBytes = textBytes + (1300 + octet_length(NEW.memoContent)), memoBooks = memoBooks + ((SELECT hasMemos FROM books WHERE bookId = NEW.bookId) = 0) WHERE memberId = NEW.memberId; UPDATE books SET memoCount = memoCount + 1, contentMemos = contentMemos + (NEW.memoType = 'BOOK_CONTENT'), summaryMemos = summaryMemos + (NEW.memoType = 'SUMMARY'), thoughtMemos = thoughtMemos + (NEW.memoType = 'THOUGHT'), questionMemos = questionMemos + (NEW.memoType = 'QUESTION'), memoBytes = memoBytes + octet_length(NEW.memoContent), lastMemoId = max(lastMemoId, NEW.memoId), activityAt = iif( EXISTS (SELECT 1 FROM trash WHERE trashId = -NEW.memoId), activityAt, max(CAST(unixepoch('subsec') * 1000 AS INTEGER), coalesce(activityAt, 0)) ) WHERE bookId = NEW.bookId AND hasMemos = 1; UPDATE books SET memoCount = 1, contentMemos = (NEW.memoType = 'BOOK_CONTENT'), summaryMemos = (NEW.memoType = 'SUMMARY'), thoughtMemos = (NEW.memoType = 'THOUGHT'), questionMemos = (NEW.memoType = 'QUESTION'), memoBytes = octet_length(NEW.memoContent), hasMemos = 1, lastMemoId = NEW.memoId, activityAt = iif( EXISTS (SELECT 1 FROM trash WHERE trashId = -NEW.memoId), activityAt, max(CAST(unixepoch('subsec') * 1000 AS INTEGER), coalesce(activityAt, 0)) ) WHERE bookId = NEW.bookId AND hasMemos = 0; END;
--> statement-breakpoint
CREATE TRIGGER memos_imported AFTER INSERT ON memos WHEN NEW.importId IS NOT NULL AND NOT EXISTS (SELECT 1 FROM trash WHERE trashId = NEW.bookId) BEGIN UPDATE members SET textBytes = textBytes + (1300 + octet_length(NEW.memoContent)), memoBooks = memoBooks + ((SELECT hasMemos FROM books WHERE bookId = NEW.bookId) = 0) WHERE memberId = NEW.memberId; UPDATE books SET memoCount = memoCount + 1, contentMemos = contentMemos + (NEW.memoType = 'BOOK_CONTENT'), summaryMemos = summaryMemos + (NEW.memoType = 'SUMMARY'), thoughtMemos = thoughtMemos + (NEW.memoType = 'THOUGHT'), questionMemos = questionMemos + (NEW.memoType = 'QUESTION'), memoBytes = memoBytes + octet_length(NEW.memoContent), lastMemoId = max(lastMemoId, NEW.memoId) WHERE bookId = NEW.bookId AND hasMemos = 1; UPDATE books SET memoCount = 1, contentMemos = (NEW.memoType = 'BOOK_CONTENT'), summaryMemos = (NEW.memoType = 'SUMMARY'), thoughtMemos = (NEW.memoType = 'THOUGHT'), questionMemos = (NEW.memoType = 'QUESTION'), memoBytes = octet_length(NEW.memoContent), hasMemos = 1, lastMemoId = NEW.memoId WHERE bookId = NEW.bookId AND hasMemos = 0; END;
--> statement-breakpoint
CREATE TRIGGER memos_counted_out AFTER DELETE ON memos WHEN EXISTS (SELECT 1 FROM books JOIN members USING (memberId) WHERE bookId = OLD.bookId AND withdrawnAt IS NULL) BEGIN UPDATE members SET textBytes = textBytes - (1300 + octet_length(OLD.memoContent)) + coalesce((SELECT bytes FROM trash WHERE trashId = -OLD.memoId), 0), memoBooks = memoBooks - ((SELECT memoCount FROM books WHERE bookId = OLD.bookId) = 1) WHERE memberId = OLD.memberId; UPDATE books SET memoCount = 0, contentMemos = 0, summaryMemos = 0, thoughtMemos = 0, questionMemos = 0, memoBytes = 0, hasMemos = 0, lastMemoId = NULL WHERE bookId = OLD.bookId AND memoCount = 1; UPDATE books SET memoCount = memoCount - 1, contentMemos = contentMemos - (OLD.memoType = 'BOOK_CONTENT'), summaryMemos = summaryMemos - (OLD.memoType = 'SUMMARY'), thoughtMemos = thoughtMemos - (OLD.memoType = 'THOUGHT'), questionMemos = questionMemos - (OLD.memoType = 'QUESTION'), memoBytes = memoBytes - octet_length(OLD.memoContent), lastMemoId = iif(lastMemoId = OLD.memoId, max(coalesce((SELECT max(memoId) FROM memos WHERE bookId = OLD.bookId AND memoType = 'BOOK_CONTENT'), 0), coalesce((SELECT max(memoId) FROM memos WHERE bookId = OLD.bookId AND memoType = 'SUMMARY'), 0), coalesce((SELECT max(memoId) FROM memos WHERE bookId = OLD.bookId AND memoType = 'THOUGHT'), 0), coalesce((SELECT max(memoId) FROM memos WHERE bookId = OLD.bookId AND memoType = 'QUESTION'), 0)), lastMemoId) WHERE bookId = OLD.bookId AND memoCount > 1; END;
--> statement-breakpoint
CREATE TRIGGER memos_resized AFTER UPDATE OF memoContent ON memos WHEN octet_length(NEW.memoContent) <> octet_length(OLD.memoContent) BEGIN UPDATE books SET memoBytes = memoBytes - octet_length(OLD.memoContent) + octet_length(NEW.memoContent) WHERE bookId = NEW.bookId; UPDATE members SET textBytes = textBytes - octet_length(OLD.memoContent) + octet_length(NEW.memoContent) WHERE memberId = NEW.memberId; END;
--> statement-breakpoint
CREATE TRIGGER memos_recounted AFTER UPDATE OF memoType ON memos WHEN OLD.memoType <> NEW.memoType BEGIN UPDATE books SET contentMemos = contentMemos - (OLD.memoType = 'BOOK_CONTENT') + (NEW.memoType = 'BOOK_CONTENT'), summaryMemos = summaryMemos - (OLD.memoType = 'SUMMARY') + (NEW.memoType = 'SUMMARY'), thoughtMemos = thoughtMemos - (OLD.memoType = 'THOUGHT') + (NEW.memoType = 'THOUGHT'), questionMemos = questionMemos - (OLD.memoType = 'QUESTION') + (NEW.memoType = 'QUESTION') WHERE bookId = NEW.bookId; END;
--> statement-breakpoint
CREATE TRIGGER trash_counted_out AFTER DELETE ON trash BEGIN UPDATE members SET textBytes = textBytes - OLD.bytes WHERE memberId = OLD.memberId AND withdrawnAt IS NULL; DELETE FROM trashParts WHERE memberId = OLD.memberId AND bookId = OLD.trashId; END;
--> statement-breakpoint
CREATE TRIGGER images_counted_in AFTER INSERT ON images BEGIN UPDATE members SET imageCount = imageCount + 1, imageBytes = imageBytes + NEW.bytes WHERE memberId = NEW.memberId; END;
--> statement-breakpoint
CREATE TRIGGER images_counted_out AFTER DELETE ON images BEGIN UPDATE members SET imageCount = imageCount - 1, imageBytes = imageBytes - OLD.bytes WHERE memberId = OLD.memberId AND withdrawnAt IS NULL; END;
--> statement-breakpoint
CREATE TRIGGER statisticsFiles_counted_in AFTER INSERT ON statisticsFiles BEGIN UPDATE members SET imageBytes = imageBytes + (NEW.bytes + NEW.missingBytes), textBytes = textBytes + 4000 * (NEW.sittings / 20) WHERE memberId = NEW.memberId; END;
--> statement-breakpoint
CREATE TRIGGER statisticsFiles_counted_out AFTER DELETE ON statisticsFiles BEGIN UPDATE members SET imageBytes = imageBytes - (OLD.bytes + OLD.missingBytes), textBytes = textBytes - 4000 * (OLD.sittings / 20) WHERE memberId = OLD.memberId AND withdrawnAt IS NULL; END;
--> statement-breakpoint
CREATE TRIGGER statisticsFiles_recounted AFTER UPDATE OF bytes, missingBytes, sittings ON statisticsFiles WHEN (NEW.bytes + NEW.missingBytes) <> (OLD.bytes + OLD.missingBytes) OR 4000 * (NEW.sittings / 20) <> 4000 * (OLD.sittings / 20) BEGIN UPDATE members SET imageBytes = imageBytes - (OLD.bytes + OLD.missingBytes) + (NEW.bytes + NEW.missingBytes), textBytes = textBytes - 4000 * (OLD.sittings / 20) + 4000 * (NEW.sittings / 20) WHERE memberId = NEW.memberId; END;
--> statement-breakpoint
CREATE TRIGGER idempotencyKeys_counted_in AFTER INSERT ON idempotencyKeys BEGIN UPDATE members SET keyCount = keyCount + 1 WHERE memberId = NEW.memberId; END;
--> statement-breakpoint
CREATE TRIGGER idempotencyKeys_counted_out AFTER DELETE ON idempotencyKeys BEGIN UPDATE members SET keyCount = keyCount - 1 WHERE memberId = OLD.memberId AND withdrawnAt IS NULL; END;
--> statement-breakpoint
CREATE TRIGGER readings_counted_in AFTER INSERT ON readings WHEN NOT EXISTS ( SELECT 1 FROM books WHERE bookId = NEW.bookId AND memberId = NEW.memberId AND coalesce(readingId, bookId) = NEW.readingId ) BEGIN UPDATE members SET textBytes = textBytes + (1300 + octet_length(concat(NEW.note))) WHERE memberId = NEW.memberId; END;
--> statement-breakpoint
CREATE TRIGGER readings_counted_out AFTER DELETE ON readings WHEN EXISTS (SELECT 1 FROM books WHERE bookId = OLD.bookId) BEGIN UPDATE members SET textBytes = textBytes - (1300 + octet_length(concat(OLD.note))) WHERE memberId = OLD.memberId AND withdrawnAt IS NULL; END;
--> statement-breakpoint
CREATE TRIGGER readings_resized AFTER UPDATE OF note ON readings WHEN (1300 + octet_length(concat(NEW.note))) <> (1300 + octet_length(concat(OLD.note))) BEGIN UPDATE members SET textBytes = textBytes - (1300 + octet_length(concat(OLD.note))) + (1300 + octet_length(concat(NEW.note))) WHERE memberId = NEW.memberId; END;
--> statement-breakpoint
CREATE TRIGGER tags_priced AFTER UPDATE OF bookCount ON tags WHEN (NEW.bookCount / 20) > NEW.blocks BEGIN UPDATE members SET textBytes = textBytes + 4000 * ((NEW.bookCount / 20) - NEW.blocks) WHERE memberId = NEW.memberId; UPDATE tags SET blocks = (NEW.bookCount / 20) WHERE memberId = NEW.memberId AND tagId = NEW.tagId; END;
--> statement-breakpoint
CREATE TRIGGER tags_unpriced AFTER DELETE ON tags WHEN OLD.blocks > 0 BEGIN UPDATE members SET textBytes = textBytes - 4000 * OLD.blocks WHERE memberId = OLD.memberId AND withdrawnAt IS NULL; END;
--> statement-breakpoint
CREATE TRIGGER progress_priced AFTER UPDATE OF total ON progress WHEN EXISTS (SELECT 1 FROM books WHERE bookId = NEW.bookId AND eventBlocks <> (NEW.total / 20)) BEGIN UPDATE members SET textBytes = textBytes + 4000 * ((NEW.total / 20) - (SELECT eventBlocks FROM books WHERE bookId = NEW.bookId)) WHERE memberId = NEW.memberId; UPDATE books SET eventBlocks = (NEW.total / 20) WHERE bookId = NEW.bookId; END;
--> statement-breakpoint
CREATE TRIGGER progress_unpriced AFTER DELETE ON progress WHEN EXISTS ( SELECT 1 FROM books JOIN members USING (memberId) WHERE bookId = OLD.bookId AND eventBlocks > 0 AND withdrawnAt IS NULL ) AND NOT EXISTS (SELECT 1 FROM progress WHERE memberId = OLD.memberId AND bookId = OLD.bookId) BEGIN UPDATE members SET textBytes = textBytes + 4000 * (0 - (SELECT eventBlocks FROM books WHERE bookId = OLD.bookId)) WHERE memberId = OLD.memberId; UPDATE books SET eventBlocks = 0 WHERE bookId = OLD.bookId; END;
--> statement-breakpoint
CREATE TRIGGER books_id_retired AFTER DELETE ON books WHEN OLD.bookId > (SELECT coalesce(max(bookId), 0) FROM books) BEGIN INSERT OR REPLACE INTO retiredIds (tableName, id) SELECT 'books', max(OLD.bookId, coalesce((SELECT id FROM retiredIds WHERE tableName = 'books'), 0)); END;
--> statement-breakpoint
CREATE TRIGGER memos_id_retired AFTER DELETE ON memos WHEN OLD.memoId > (SELECT coalesce(max(memoId), 0) FROM memos) BEGIN INSERT OR REPLACE INTO retiredIds (tableName, id) SELECT 'memos', max(OLD.memoId, coalesce((SELECT id FROM retiredIds WHERE tableName = 'memos'), 0)); END;
--> statement-breakpoint
CREATE TRIGGER readings_id_retired AFTER DELETE ON readings WHEN OLD.readingId <> OLD.bookId AND OLD.readingId > (SELECT coalesce(max(readingId), 0) FROM books WHERE readingId IS NOT NULL) AND OLD.readingId > (SELECT coalesce(max(readingId), 0) FROM readings) BEGIN INSERT OR REPLACE INTO retiredIds (tableName, id) SELECT 'readings', max(OLD.readingId, coalesce((SELECT id FROM retiredIds WHERE tableName = 'readings'), 0)); END;
--> statement-breakpoint
CREATE TRIGGER books_reading_retired AFTER UPDATE OF readingId ON books WHEN OLD.readingId <> OLD.bookId AND OLD.readingId > (SELECT coalesce(max(readingId), 0) FROM books WHERE readingId IS NOT NULL) AND OLD.readingId > (SELECT coalesce(max(readingId), 0) FROM readings) BEGIN INSERT OR REPLACE INTO retiredIds (tableName, id) SELECT 'readings', max(OLD.readingId, coalesce((SELECT id FROM retiredIds WHERE tableName = 'readings'), 0)); END;
--> statement-breakpoint
CREATE TRIGGER books_last_reading_retired AFTER DELETE ON books WHEN OLD.readingId <> OLD.bookId AND OLD.readingId > (SELECT coalesce(max(readingId), 0) FROM books WHERE readingId IS NOT NULL) AND OLD.readingId > (SELECT coalesce(max(readingId), 0) FROM readings) BEGIN INSERT OR REPLACE INTO retiredIds (tableName, id) SELECT 'readings', max(OLD.readingId, coalesce((SELECT id FROM retiredIds WHERE tableName = 'readings'), 0)); END;
--> statement-breakpoint
CREATE TRIGGER memos_close_position_gap AFTER DELETE ON memos WHEN EXISTS (SELECT 1 FROM members WHERE memberId = OLD.memberId AND withdrawnAt IS NULL) BEGIN UPDATE memos SET position = OLD.position WHERE memberId = OLD.memberId AND position > OLD.position AND position = (SELECT max(position) FROM memos WHERE memberId = OLD.memberId); END;
--> statement-breakpoint
CREATE TRIGGER books_author_added AFTER INSERT ON books WHEN NEW.author IS NOT NULL BEGIN INSERT INTO authors (memberId, authorKey, author, bookCount) VALUES (NEW.memberId, coalesce(NEW.authorFolded, lower(NEW.author)), NEW.author, 1) ON CONFLICT DO UPDATE SET bookCount = bookCount + 1; END;
--> statement-breakpoint
CREATE TRIGGER books_author_removed AFTER DELETE ON books WHEN OLD.author IS NOT NULL BEGIN DELETE FROM authors WHERE memberId = OLD.memberId AND authorKey = coalesce(OLD.authorFolded, lower(OLD.author)) AND bookCount = 1; UPDATE authors SET bookCount = bookCount - 1 WHERE memberId = OLD.memberId AND authorKey = coalesce(OLD.authorFolded, lower(OLD.author)) AND bookCount > 1; END;
--> statement-breakpoint
CREATE TRIGGER books_author_changed AFTER UPDATE OF author, authorFolded ON books WHEN coalesce(OLD.authorFolded, lower(OLD.author)) IS NOT coalesce(NEW.authorFolded, lower(NEW.author)) BEGIN DELETE FROM authors WHERE memberId = OLD.memberId AND authorKey = coalesce(OLD.authorFolded, lower(OLD.author)) AND bookCount = 1; UPDATE authors SET bookCount = bookCount - 1 WHERE memberId = OLD.memberId AND authorKey = coalesce(OLD.authorFolded, lower(OLD.author)) AND bookCount > 1; INSERT INTO authors (memberId, authorKey, author, bookCount) SELECT NEW.memberId, coalesce(NEW.authorFolded, lower(NEW.author)), NEW.author, 1 WHERE NEW.author IS NOT NULL ON CONFLICT DO UPDATE SET bookCount = bookCount + 1; END;
--> statement-breakpoint
CREATE TRIGGER books_author_respelled AFTER UPDATE OF author ON books WHEN NEW.author <> OLD.author AND coalesce(OLD.authorFolded, lower(OLD.author)) = coalesce(NEW.authorFolded, lower(NEW.author)) BEGIN UPDATE authors SET author = NEW.author WHERE memberId = NEW.memberId AND authorKey = coalesce(NEW.authorFolded, lower(NEW.author)) AND bookCount = 1; END;
--> statement-breakpoint
CREATE TRIGGER bookTags_counted_in AFTER INSERT ON bookTags BEGIN UPDATE tags SET bookCount = bookCount + 1 WHERE memberId = NEW.memberId AND tagId = NEW.tagId; END;
--> statement-breakpoint
CREATE TRIGGER bookTags_counted_out AFTER DELETE ON bookTags BEGIN DELETE FROM tags WHERE memberId = OLD.memberId AND tagId = OLD.tagId AND bookCount = 1 AND NOT EXISTS (SELECT 1 FROM accessTokens WHERE memberId = OLD.memberId AND tagId = OLD.tagId); UPDATE tags SET bookCount = bookCount - 1 WHERE memberId = OLD.memberId AND tagId = OLD.tagId AND bookCount > 0; END;
--> statement-breakpoint
CREATE TRIGGER links_tag_deleted AFTER DELETE ON accessTokens WHEN OLD.tagId IS NOT NULL BEGIN DELETE FROM tags WHERE memberId = OLD.memberId AND tagId = OLD.tagId AND bookCount = 0 AND NOT EXISTS (SELECT 1 FROM accessTokens WHERE memberId = OLD.memberId AND tagId = OLD.tagId); END;
--> statement-breakpoint
CREATE TRIGGER tags_links_deleted AFTER DELETE ON tags BEGIN DELETE FROM accessTokens WHERE memberId = OLD.memberId AND tagId = OLD.tagId; END;
--> statement-breakpoint
CREATE TRIGGER books_progressed AFTER UPDATE OF currentPage, bookStatus ON books WHEN NEW.currentPage <> OLD.currentPage OR ( NEW.bookStatus = 'DONE' AND OLD.bookStatus <> 'DONE' AND NOT NEW.isStopped AND coalesce(NEW.readingId, NEW.bookId) = coalesce(OLD.readingId, OLD.bookId) AND NEW.importId IS OLD.importId ) BEGIN INSERT INTO progress (memberId, bookId, at, page, kind, total, seconds) SELECT NEW.memberId, NEW.bookId, max(CAST(unixepoch('subsec') * 1000 AS INTEGER), coalesce(latest.at + 1, 0)), NEW.currentPage, iif( NEW.bookStatus = 'DONE' AND OLD.bookStatus <> 'DONE', 'FINISHED', NEW.currentPage > OLD.currentPage OR (NEW.bookStatus = 'ING' AND OLD.bookStatus <> 'ING') OR NEW.readingSince > coalesce(max(latest.at, 0), 0), 'PROGRESS', 'CORRECTION' ), coalesce(latest.total, 0) + 1, iif(NEW.currentPage = OLD.currentPage, latest.seconds, null) FROM (SELECT 1) LEFT JOIN ( SELECT at, page, total, seconds FROM progress WHERE memberId = NEW.memberId AND bookId = NEW.bookId ORDER BY at DESC LIMIT 1 ) AS latest WHERE latest.page IS NOT NEW.currentPage OR NEW.currentPage = OLD.currentPage; END;
--> statement-breakpoint
CREATE TRIGGER progress_added_late AFTER INSERT ON progress WHEN EXISTS (SELECT 1 FROM progress WHERE memberId = NEW.memberId AND bookId = NEW.bookId AND at > NEW.at) BEGIN UPDATE progress SET total = total + 1 WHERE memberId = NEW.memberId AND bookId = NEW.bookId AND at = (SELECT max(at) FROM progress WHERE memberId = NEW.memberId AND bookId = NEW.bookId); END;
--> statement-breakpoint
CREATE TRIGGER progress_added_twentieth AFTER INSERT ON progress WHEN NEW.total % 20 = 0 AND NOT EXISTS (SELECT 1 FROM trash WHERE trashId = NEW.bookId) BEGIN UPDATE progress SET total = total WHERE memberId = NEW.memberId AND bookId = NEW.bookId AND at = (SELECT max(at) FROM progress WHERE memberId = NEW.memberId AND bookId = NEW.bookId); END;
--> statement-breakpoint
CREATE TRIGGER progress_limited AFTER INSERT ON progress WHEN (NEW.total > 1000 OR (NEW.total % 20 = 0 AND EXISTS ( SELECT 1 FROM members WHERE memberId = NEW.memberId AND textBytes > coalesce(maxTextBytes, 67108864) )) ) AND NOT EXISTS (SELECT 1 FROM trash WHERE trashId = NEW.bookId) BEGIN DELETE FROM progress WHERE memberId = NEW.memberId AND bookId = NEW.bookId AND kind <> 'FINISHED' AND minutes IS NULL AND at IN ( SELECT at FROM ( SELECT at, lead(at) OVER (ORDER BY at) AS next FROM (SELECT at FROM progress WHERE memberId = NEW.memberId AND bookId = NEW.bookId ORDER BY at LIMIT 1000) ) WHERE next / 86400000 = at / 86400000 ); UPDATE progress SET total = total - changes() WHERE memberId = NEW.memberId AND bookId = NEW.bookId AND at = (SELECT max(at) FROM progress WHERE memberId = NEW.memberId AND bookId = NEW.bookId) AND changes() > 0; DELETE FROM progress WHERE memberId = NEW.memberId AND bookId = NEW.bookId AND at = (SELECT min(at) FROM progress WHERE memberId = NEW.memberId AND bookId = NEW.bookId) AND changes() = 0; UPDATE progress SET total = total - changes() WHERE memberId = NEW.memberId AND bookId = NEW.bookId AND at = (SELECT max(at) FROM progress WHERE memberId = NEW.memberId AND bookId = NEW.bookId) AND changes() > 0; END;
--> statement-breakpoint
CREATE TRIGGER sessions_limited AFTER INSERT ON sessions BEGIN DELETE FROM sessions WHERE memberId = NEW.memberId AND sessionId IN (SELECT sessionId FROM sessions WHERE memberId = NEW.memberId ORDER BY createdAt DESC LIMIT -1 OFFSET 100); END;
--> statement-breakpoint
CREATE TRIGGER activity_limited AFTER INSERT ON activity BEGIN DELETE FROM activity WHERE memberId = NEW.memberId AND isFailedLogin = NEW.isFailedLogin AND entry <= NEW.entry - iif(NEW.isFailedLogin, 500, 5000); END;
--> statement-breakpoint
CREATE TRIGGER documents_limited AFTER INSERT ON documents WHEN NEW.seconds = 0 AND (SELECT count(*) FROM documents WHERE memberId = NEW.memberId AND seconds = 0) > 2000 BEGIN DELETE FROM documents WHERE memberId = NEW.memberId AND document = coalesce( ( SELECT document FROM documents WHERE memberId = NEW.memberId AND document <> NEW.document AND seconds = 0 AND NOT isByHand ORDER BY createdAt LIMIT 1 ), ( SELECT document FROM documents WHERE memberId = NEW.memberId AND document <> NEW.document AND seconds = 0 ORDER BY createdAt LIMIT 1 ) ); END;
--> statement-breakpoint
CREATE TRIGGER documents_positions_deleted AFTER DELETE ON documents BEGIN DELETE FROM positions WHERE memberId = OLD.memberId AND document = OLD.document; END;
--> statement-breakpoint
CREATE TRIGGER positions_limited AFTER INSERT ON positions BEGIN DELETE FROM positions WHERE memberId = NEW.memberId AND document = NEW.document AND tokenId IN ( SELECT tokenId FROM positions WHERE memberId = NEW.memberId AND document = NEW.document ORDER BY at DESC LIMIT -1 OFFSET 5 ); END;
--> statement-breakpoint
CREATE TRIGGER changes_limited AFTER INSERT ON changes WHEN NEW.seq > 20000 AND NEW.seq % 100 = 0 BEGIN DELETE FROM changes WHERE memberId = NEW.memberId AND seq <= NEW.seq - 20000; END;
--> statement-breakpoint
CREATE TRIGGER books_insert_logged AFTER INSERT ON books BEGIN INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 1, NEW.bookId, random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = NEW.memberId ORDER BY seq DESC LIMIT 1; INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 4, coalesce(NEW.readingId, NEW.bookId), random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = NEW.memberId AND NEW.bookStatus <> 'YET' ORDER BY seq DESC LIMIT 1; END;
--> statement-breakpoint
CREATE TRIGGER books_update_logged AFTER UPDATE OF title, subtitle, cover, author, publisher, createdAt, star, itemPage, bookStatus, readStartDate, readEndDate, isbn, language, format, publishedYear, series, seriesNumber, seconds, sourceIds ON books WHEN (NEW.title, NEW.subtitle, NEW.cover, NEW.author, NEW.publisher, NEW.createdAt, NEW.star, NEW.itemPage, NEW.bookStatus, NEW.readStartDate, NEW.readEndDate, NEW.isbn, NEW.language, NEW.format, NEW.publishedYear, NEW.series, NEW.seriesNumber, NEW.seconds, NEW.sourceIds) IS NOT (OLD.title, OLD.subtitle, OLD.cover, OLD.author, OLD.publisher, OLD.createdAt, OLD.star, OLD.itemPage, OLD.bookStatus, OLD.readStartDate, OLD.readEndDate, OLD.isbn, OLD.language, OLD.format, OLD.publishedYear, OLD.series, OLD.seriesNumber, OLD.seconds, OLD.sourceIds) BEGIN INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 1, NEW.bookId, random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = NEW.memberId ORDER BY seq DESC LIMIT 1; END;
--> statement-breakpoint
CREATE TRIGGER books_delete_logged AFTER DELETE ON books BEGIN INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 1, OLD.bookId, random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = OLD.memberId ORDER BY seq DESC LIMIT 1; END;
--> statement-breakpoint
CREATE TRIGGER bookTags_insert_logged AFTER INSERT ON bookTags WHEN NOT EXISTS (SELECT 1 FROM trash WHERE trashId = NEW.bookId) BEGIN INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 1, NEW.bookId, random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = NEW.memberId ORDER BY seq DESC LIMIT 1; END;
--> statement-breakpoint
CREATE TRIGGER bookTags_delete_logged AFTER DELETE ON bookTags BEGIN INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 1, OLD.bookId, random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = OLD.memberId AND EXISTS (SELECT 1 FROM books WHERE books.bookId = OLD.bookId AND changes.seq > 0) ORDER BY seq DESC LIMIT 1; END;
--> statement-breakpoint
CREATE TRIGGER progress_insert_logged AFTER INSERT ON progress WHEN NOT EXISTS (SELECT 1 FROM trash WHERE trashId = NEW.bookId) BEGIN INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 1, NEW.bookId, random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = NEW.memberId ORDER BY seq DESC LIMIT 1; END;
--> statement-breakpoint
CREATE TRIGGER progress_update_logged AFTER UPDATE OF page ON progress WHEN NEW.page <> OLD.page BEGIN INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 1, NEW.bookId, random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = NEW.memberId ORDER BY seq DESC LIMIT 1; END;
--> statement-breakpoint
CREATE TRIGGER progress_delete_logged AFTER DELETE ON progress BEGIN INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 1, OLD.bookId, random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = OLD.memberId AND EXISTS (SELECT 1 FROM books WHERE books.bookId = OLD.bookId AND changes.seq > 0) ORDER BY seq DESC LIMIT 1; END;
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
CREATE TRIGGER books_reading_left AFTER UPDATE OF bookStatus, readingId ON books WHEN OLD.bookStatus <> 'YET' AND (NEW.bookStatus = 'YET' OR coalesce(NEW.readingId, NEW.bookId) <> coalesce(OLD.readingId, OLD.bookId)) AND NOT EXISTS (SELECT 1 FROM readings WHERE readingId = coalesce(OLD.readingId, OLD.bookId)) BEGIN INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 4, coalesce(OLD.readingId, OLD.bookId), random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = OLD.memberId ORDER BY seq DESC LIMIT 1; END;
--> statement-breakpoint
CREATE TRIGGER books_reading_changed AFTER UPDATE OF bookStatus, readStartDate, readEndDate, star, readingId, startedAt, finishedAt, isStopped, quarters, readingFormat, isPaused, readingSince, archivedId, archivedStart, archivedEnd, archivedStar, importId, note ON books WHEN NEW.bookStatus <> 'YET' BEGIN INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 4, coalesce(NEW.readingId, NEW.bookId), random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = NEW.memberId AND changes.seq > 0 AND (OLD.bookStatus = 'YET' OR ( coalesce(OLD.readingId, OLD.bookId), coalesce(nullif(substr(OLD.readStartDate, 1, 10), OLD.archivedStart), OLD.startedAt), iif(OLD.bookStatus = 'DONE', coalesce(nullif(substr(OLD.readEndDate, 1, 10), OLD.archivedEnd), OLD.finishedAt), NULL), iif(OLD.bookStatus <> 'DONE', NULL, OLD.isStopped AND nullif(substr(OLD.readEndDate, 1, 10), OLD.archivedEnd) IS NULL, 'STOPPED', 'FINISHED'), iif(max(1, (OLD.quarters + 2) >> 2) = OLD.star, OLD.quarters, OLD.star IS OLD.archivedStar, NULL, nullif(OLD.star * 4, 0)), OLD.readingFormat, OLD.note, (OLD.isPaused AND OLD.bookStatus = 'ING') ) IS NOT (SELECT readingId, startedAt, finishedAt, outcome, quarters, format, note, isPaused FROM currentReadings WHERE bookId = NEW.bookId)) ORDER BY seq DESC LIMIT 1; DELETE FROM readings WHERE readingId = coalesce(NEW.readingId, NEW.bookId) AND coalesce(NEW.readingId, NEW.bookId) <> coalesce(OLD.readingId, OLD.bookId); END;
--> statement-breakpoint
CREATE TRIGGER readings_insert_logged AFTER INSERT ON readings WHEN NOT EXISTS ( SELECT 1 FROM currentReadings WHERE bookId = NEW.bookId AND (readingId, startedAt, finishedAt, outcome, quarters, format, note, isPaused) IS (NEW.readingId, NEW.startedAt, NEW.finishedAt, NEW.outcome, NEW.quarters, NEW.format, NEW.note, 0) ) BEGIN INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 4, NEW.readingId, random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = NEW.memberId ORDER BY seq DESC LIMIT 1; END;
--> statement-breakpoint
CREATE TRIGGER readings_update_logged AFTER UPDATE OF bookId, startedAt, finishedAt, outcome, quarters, format, note ON readings WHEN (NEW.bookId, NEW.startedAt, NEW.finishedAt, NEW.outcome, NEW.quarters, NEW.format, NEW.note) IS NOT (OLD.bookId, OLD.startedAt, OLD.finishedAt, OLD.outcome, OLD.quarters, OLD.format, OLD.note) BEGIN INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 4, NEW.readingId, random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = NEW.memberId ORDER BY seq DESC LIMIT 1; END;
--> statement-breakpoint
CREATE TRIGGER readings_delete_logged AFTER DELETE ON readings WHEN NOT EXISTS (SELECT 1 FROM currentReadings WHERE bookId = OLD.bookId AND readingId = OLD.readingId) BEGIN INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 4, OLD.readingId, random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = OLD.memberId AND EXISTS (SELECT 1 FROM books WHERE books.bookId = OLD.bookId AND changes.seq > 0) ORDER BY seq DESC LIMIT 1; END;
--> statement-breakpoint
CREATE TRIGGER documents_read_logged AFTER UPDATE OF seconds ON documents WHEN NEW.seconds <> OLD.seconds AND NEW.bookId IS NOT NULL BEGIN INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 1, NEW.bookId, random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = NEW.memberId ORDER BY seq DESC LIMIT 1; END;
--> statement-breakpoint
CREATE TRIGGER documents_link_logged AFTER UPDATE OF bookId ON documents WHEN NEW.bookId IS NOT OLD.bookId AND NEW.seconds > 0 BEGIN INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 1, OLD.bookId, random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = OLD.memberId AND OLD.bookId IS NOT NULL ORDER BY seq DESC LIMIT 1; INSERT INTO changes (memberId, seq, kind, id, proof) SELECT memberId, seq + 1, 1, NEW.bookId, random() & 0xFFFFFFFFFFFF FROM changes WHERE memberId = NEW.memberId AND NEW.bookId IS NOT NULL ORDER BY seq DESC LIMIT 1; END;
