CREATE TABLE `attempts` (
	`attemptId` integer PRIMARY KEY NOT NULL,
	`subject` text NOT NULL,
	`at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `attempts_by_subject` ON `attempts` (`subject`,`at`);--> statement-breakpoint
CREATE TABLE `joinCodes` (
	`subject` text PRIMARY KEY NOT NULL,
	`codeHash` text NOT NULL,
	`issuedAt` integer NOT NULL,
	`expiresAt` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `purgeJobs` (
	`memberId` integer PRIMARY KEY NOT NULL,
	`createdAt` integer NOT NULL
);
