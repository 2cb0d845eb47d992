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
	FOREIGN KEY (`memberId`) REFERENCES `members`(`memberId`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `accessTokens_by_member` ON `accessTokens` (`memberId`,`tokenId`);--> statement-breakpoint
CREATE INDEX `accessTokens_by_expiry` ON `accessTokens` (`expiresAt`) WHERE "expiresAt" is not null;--> statement-breakpoint
CREATE TABLE `accountCodes` (
	`codeHash` text PRIMARY KEY NOT NULL,
	`subject` text NOT NULL,
	`memberId` integer NOT NULL,
	`slot` integer NOT NULL,
	`credentialsVersion` integer NOT NULL,
	`issuedAt` integer NOT NULL,
	`expiresAt` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `accountCodes_by_subject` ON `accountCodes` (`subject`);--> statement-breakpoint
CREATE INDEX `accountCodes_by_expiry` ON `accountCodes` (`expiresAt`);--> statement-breakpoint
CREATE TABLE `activity` (
	`memberId` integer NOT NULL,
	`isFailedLogin` integer NOT NULL,
	`entry` integer NOT NULL,
	`at` integer NOT NULL,
	`kind` text NOT NULL,
	`device` text,
	`country` text,
	PRIMARY KEY(`memberId`, `isFailedLogin`, `entry`),
	FOREIGN KEY (`memberId`) REFERENCES `members`(`memberId`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "activity_failed_login" CHECK("activity"."isFailedLogin" = ("activity"."kind" = 'LOGIN_FAILED'))
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `activity_by_time` ON `activity` (`at`);--> statement-breakpoint
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
ALTER TABLE `members` ADD `credentialsVersion` integer DEFAULT 0 NOT NULL;
--> statement-breakpoint
CREATE TRIGGER sessions_limited AFTER INSERT ON sessions BEGIN DELETE FROM sessions WHERE memberId = NEW.memberId AND sessionId IN (SELECT sessionId FROM sessions WHERE memberId = NEW.memberId ORDER BY createdAt DESC LIMIT -1 OFFSET 100); END;
--> statement-breakpoint
CREATE TRIGGER activity_limited AFTER INSERT ON activity BEGIN DELETE FROM activity WHERE memberId = NEW.memberId AND isFailedLogin = NEW.isFailedLogin AND entry <= NEW.entry - 500; END;
