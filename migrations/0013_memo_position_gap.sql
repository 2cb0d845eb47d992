DROP TRIGGER memos_hole_filled;
--> statement-breakpoint
CREATE TRIGGER memos_close_position_gap AFTER DELETE ON memos WHEN EXISTS (SELECT 1 FROM members WHERE memberId = OLD.memberId AND withdrawnAt IS NULL) BEGIN UPDATE memos SET position = OLD.position WHERE memberId = OLD.memberId AND position > OLD.position AND position = (SELECT max(position) FROM memos WHERE memberId = OLD.memberId); END;