CREATE TABLE `addresses` (
	`addressHash` blob PRIMARY KEY NOT NULL,
	`memberId` integer NOT NULL,
	`slot` integer NOT NULL,
	`claimId` integer NOT NULL,
	`state` text NOT NULL,
	`settleAt` integer,
	CONSTRAINT "addresses_hash" CHECK(length("addresses"."addressHash") = 16),
	CONSTRAINT "addresses_state" CHECK("addresses"."state" in ('CLAIMED', 'HELD', 'RESERVED')),
	CONSTRAINT "addresses_settle_at" CHECK(("addresses"."state" = 'HELD') = ("addresses"."settleAt" is null))
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `addresses_by_member` ON `addresses` (`memberId`);--> statement-breakpoint
CREATE INDEX `addresses_to_settle` ON `addresses` (`settleAt`) WHERE "settleAt" is not null;--> statement-breakpoint
CREATE TABLE `settledClaims` (
	`claimId` integer PRIMARY KEY NOT NULL,
	`settledAt` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `slotCounters` (
	`slot` integer PRIMARY KEY NOT NULL,
	`lastClaimId` integer NOT NULL
);
