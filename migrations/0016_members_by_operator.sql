CREATE TABLE `operatorLog` (
	`entryId` integer PRIMARY KEY NOT NULL,
	`at` integer NOT NULL,
	`action` text NOT NULL,
	`memberId` integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE `members` ADD `blockedAt` integer;--> statement-breakpoint
ALTER TABLE `members` ADD `maxBooks` integer;--> statement-breakpoint
ALTER TABLE `members` ADD `maxTextBytes` integer;--> statement-breakpoint
ALTER TABLE `members` ADD `maxImageBytes` integer;