ALTER TABLE `memos` ADD `importId` integer;--> statement-breakpoint
ALTER TABLE `memos` ADD `importVersion` integer;--> statement-breakpoint
ALTER TABLE `memos` ADD `importSource` text;