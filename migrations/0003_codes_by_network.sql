CREATE TABLE `dailyMails` (
	`day` integer PRIMARY KEY NOT NULL,
	`mails` integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE `joinCodes` ADD `address` text;--> statement-breakpoint
CREATE INDEX `joinCodes_by_address` ON `joinCodes` (`address`);