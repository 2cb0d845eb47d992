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
ALTER TABLE `members` ADD `timeZone` text;--> statement-breakpoint
CREATE INDEX `memos_by_time` ON `memos` (`memberId`,`createdAt`);--> statement-breakpoint
CREATE INDEX `progress_by_time` ON `progress` (`memberId`,`at`);--> statement-breakpoint
CREATE INDEX `readings_by_date` ON `readings` (`memberId`,coalesce("finishedAt", "startedAt")) WHERE ("finishedAt" is not null or ("isPaused" = 1 and "startedAt" is not null));