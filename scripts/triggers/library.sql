-- Keeps the positions of a member's memos at 1 … n, for the random memo: the last memo takes the deleted one's position.
CREATE TRIGGER memos_close_position_gap AFTER DELETE ON memos
WHEN EXISTS (SELECT 1 FROM members WHERE memberId = OLD.memberId AND withdrawnAt IS NULL)
BEGIN
  UPDATE memos
  SET position = OLD.position
  WHERE memberId = OLD.memberId
    AND position > OLD.position
    AND position = (SELECT max(position) FROM memos WHERE memberId = OLD.memberId);
END;


-- Authors, with the number of their books. A row is deleted with the last book of the author, so it is never 0.

CREATE TRIGGER books_author_added AFTER INSERT ON books
WHEN NEW.author IS NOT NULL
BEGIN
  INSERT INTO authors (memberId, authorKey, author, bookCount)
  VALUES (NEW.memberId, coalesce(NEW.authorFolded, lower(NEW.author)), NEW.author, 1)
  ON CONFLICT DO UPDATE SET bookCount = bookCount + 1;
END;

CREATE TRIGGER books_author_removed AFTER DELETE ON books
WHEN OLD.author IS NOT NULL
BEGIN
  DELETE FROM authors
  WHERE memberId = OLD.memberId AND authorKey = coalesce(OLD.authorFolded, lower(OLD.author)) AND bookCount = 1;

  UPDATE authors
  SET bookCount = bookCount - 1
  WHERE memberId = OLD.memberId AND authorKey = coalesce(OLD.authorFolded, lower(OLD.author)) AND bookCount > 1;
END;

CREATE TRIGGER books_author_changed AFTER UPDATE OF author, authorFolded ON books
WHEN coalesce(OLD.authorFolded, lower(OLD.author)) IS NOT coalesce(NEW.authorFolded, lower(NEW.author))
BEGIN
  DELETE FROM authors
  WHERE memberId = OLD.memberId AND authorKey = coalesce(OLD.authorFolded, lower(OLD.author)) AND bookCount = 1;

  UPDATE authors
  SET bookCount = bookCount - 1
  WHERE memberId = OLD.memberId AND authorKey = coalesce(OLD.authorFolded, lower(OLD.author)) AND bookCount > 1;

  INSERT INTO authors (memberId, authorKey, author, bookCount)
  SELECT NEW.memberId, coalesce(NEW.authorFolded, lower(NEW.author)), NEW.author, 1
  WHERE NEW.author IS NOT NULL
  ON CONFLICT DO UPDATE SET bookCount = bookCount + 1;
END;

CREATE TRIGGER books_author_respelled AFTER UPDATE OF author ON books
WHEN NEW.author <> OLD.author
  AND coalesce(OLD.authorFolded, lower(OLD.author)) = coalesce(NEW.authorFolded, lower(NEW.author))
BEGIN
  UPDATE authors
  SET author = NEW.author
  WHERE memberId = NEW.memberId AND authorKey = coalesce(NEW.authorFolded, lower(NEW.author)) AND bookCount = 1;
END;

-- Tags, with the number of their books. A tag without books is deleted, unless a link shows it: then with its last link.

CREATE TRIGGER bookTags_counted_in AFTER INSERT ON bookTags
BEGIN
  UPDATE tags
  SET bookCount = bookCount + 1
  WHERE memberId = NEW.memberId AND tagId = NEW.tagId;
END;

CREATE TRIGGER bookTags_counted_out AFTER DELETE ON bookTags
BEGIN
  DELETE FROM tags
  WHERE memberId = OLD.memberId AND tagId = OLD.tagId AND bookCount = 1
    AND NOT EXISTS (SELECT 1 FROM accessTokens WHERE memberId = OLD.memberId AND tagId = OLD.tagId);

  UPDATE tags
  SET bookCount = bookCount - 1
  WHERE memberId = OLD.memberId AND tagId = OLD.tagId AND bookCount > 0;
END;

CREATE TRIGGER links_tag_deleted AFTER DELETE ON accessTokens
WHEN OLD.tagId IS NOT NULL
BEGIN
  DELETE FROM tags
  WHERE memberId = OLD.memberId AND tagId = OLD.tagId AND bookCount = 0
    AND NOT EXISTS (SELECT 1 FROM accessTokens WHERE memberId = OLD.memberId AND tagId = OLD.tagId);
END;

-- The identifier of a deleted tag may be reused.
CREATE TRIGGER tags_links_deleted AFTER DELETE ON tags
BEGIN
  DELETE FROM accessTokens WHERE memberId = OLD.memberId AND tagId = OLD.tagId;
END;
