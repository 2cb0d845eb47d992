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
ALTER TABLE `members` ADD `keyCount` integer DEFAULT 0 NOT NULL;
--> statement-breakpoint
CREATE TRIGGER idempotencyKeys_counted_in AFTER INSERT ON idempotencyKeys BEGIN UPDATE members SET keyCount = keyCount + 1 WHERE memberId = NEW.memberId; END;
--> statement-breakpoint
CREATE TRIGGER idempotencyKeys_counted_out AFTER DELETE ON idempotencyKeys BEGIN UPDATE members SET keyCount = keyCount - 1 WHERE memberId = OLD.memberId AND withdrawnAt IS NULL; END;