ALTER TABLE `activity` ADD `count` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `activity` ADD `firstAt` integer;--> statement-breakpoint
ALTER TABLE `dailyMails` ADD `tokenMails` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
DROP TRIGGER activity_limited;
--> statement-breakpoint
CREATE TRIGGER activity_limited AFTER INSERT ON activity BEGIN DELETE FROM activity WHERE memberId = NEW.memberId AND isFailedLogin = NEW.isFailedLogin AND entry <= NEW.entry - iif(NEW.isFailedLogin, 500, 5000); END;
