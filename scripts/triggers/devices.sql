-- What devices push: a member keeps 2,000 documents without sittings, and the positions of five devices in each. The oldest are
-- deleted, first those whose book the member has not set. The reader of statistics limits the documents with sittings.

CREATE TRIGGER documents_limited AFTER INSERT ON documents
WHEN NEW.seconds = 0 AND (SELECT count(*) FROM documents WHERE memberId = NEW.memberId AND seconds = 0) > :MAX_DOCUMENTS
BEGIN
  DELETE FROM documents
  -- Not ordered by both, which would read and sort all of them.
  WHERE memberId = NEW.memberId AND document = coalesce(
    (
      SELECT document FROM documents
      WHERE memberId = NEW.memberId AND document <> NEW.document AND seconds = 0 AND NOT isByHand ORDER BY createdAt LIMIT 1
    ),
    (
      SELECT document FROM documents
      WHERE memberId = NEW.memberId AND document <> NEW.document AND seconds = 0 ORDER BY createdAt LIMIT 1
    )
  );
END;

CREATE TRIGGER documents_positions_deleted AFTER DELETE ON documents
BEGIN
  DELETE FROM positions WHERE memberId = OLD.memberId AND document = OLD.document;
END;

CREATE TRIGGER positions_limited AFTER INSERT ON positions
BEGIN
  DELETE FROM positions
  WHERE memberId = NEW.memberId AND document = NEW.document AND tokenId IN (
    SELECT tokenId FROM positions
    WHERE memberId = NEW.memberId AND document = NEW.document ORDER BY at DESC LIMIT -1 OFFSET :MAX_POSITIONS
  );
END;
