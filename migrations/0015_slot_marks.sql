CREATE TABLE `slotMarks` (
	`slot` integer PRIMARY KEY NOT NULL,
	`mark` text NOT NULL,
	`isConfirmed` integer DEFAULT false NOT NULL
);
