ALTER TABLE `members` DROP COLUMN `tokenVersion`;--> statement-breakpoint
ALTER TABLE `members` DROP COLUMN `keptTokenId`;