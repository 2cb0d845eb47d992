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
	`options` text NOT NULL,
	`file` text,
	`total` integer NOT NULL,
	`done` integer DEFAULT 0 NOT NULL,
	`created` integer DEFAULT 0 NOT NULL,
	`updated` integer DEFAULT 0 NOT NULL,
	`unchanged` integer DEFAULT 0 NOT NULL,
	`skipped` integer DEFAULT 0 NOT NULL,
	`failed` integer DEFAULT 0 NOT NULL,
	`reason` text,
	`leaseEndsAt` integer DEFAULT 0 NOT NULL,
	`lease` integer DEFAULT 0 NOT NULL,
	`isDeleted` integer DEFAULT false NOT NULL,
	PRIMARY KEY(`memberId`, `importId`),
	FOREIGN KEY (`memberId`) REFERENCES `members`(`memberId`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "imports_status" CHECK("imports"."status" in ('RUNNING', 'DONE', 'FAILED')),
	CONSTRAINT "imports_merge" CHECK("imports"."merge" in ('fill', 'overwrite'))
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `imports_with_file` ON `imports` (`importId`) WHERE "file" is not null;--> statement-breakpoint
CREATE INDEX `imports_by_time` ON `imports` (`importId`);
