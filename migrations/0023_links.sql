ALTER TABLE `accessTokens` ADD `kind` text;--> statement-breakpoint
ALTER TABLE `accessTokens` ADD `bookStatus` text;--> statement-breakpoint
ALTER TABLE `accessTokens` ADD `tagId` integer;--> statement-breakpoint
ALTER TABLE `accessTokens` ADD `year` integer;--> statement-breakpoint
CREATE INDEX `links_by_tag` ON `accessTokens` (`memberId`,`tagId`) WHERE "tagId" is not null;--> statement-breakpoint
CREATE INDEX `memos_public` ON `memos` (`memberId`) WHERE "memoAuthority" = 'PUBLIC';--> statement-breakpoint
CREATE INDEX `readings_finished` ON `readings` (`memberId`,`finishedAt`) WHERE "outcome" = 'FINISHED' and length("finishedAt") = 10;
--> statement-breakpoint
CREATE TRIGGER tags_links_deleted AFTER DELETE ON tags BEGIN DELETE FROM accessTokens WHERE memberId = OLD.memberId AND tagId = OLD.tagId; END;