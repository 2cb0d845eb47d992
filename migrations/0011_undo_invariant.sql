-- A return to a former address used to add an undo, with which the account could be taken back from the member who returned.
-- This deletes the undos that a return now deletes: those of an address and all later ones, when it is in use again. Each
-- address used counts as old as its first use; nothing younger may be restored after it. The undo that a return added
-- expires one millisecond after the one before it: if the undo of the address returned to has been swept, that address
-- is older than all.
WITH uses AS (
  SELECT memberId, undoId, lower(email) AS email, expiresAt FROM emailUndos
  UNION ALL
  SELECT memberId, 9223372036854775807, lower(email), NULL FROM members WHERE memberId IN (SELECT memberId FROM emailUndos)
), steps AS (
  SELECT memberId, undoId, email, lag(expiresAt) OVER changes = 1 + lag(expiresAt, 2) OVER changes AS isReturn
  FROM uses WINDOW changes AS (PARTITION BY memberId ORDER BY undoId)
), firsts AS (
  SELECT memberId, email, iif(isReturn, 0, min(undoId)) AS firstUse FROM steps GROUP BY memberId, email
)
DELETE FROM emailUndos WHERE undoId IN (
  SELECT own.undoId FROM uses AS own
  JOIN firsts AS ofOwn ON ofOwn.memberId = own.memberId AND ofOwn.email = own.email
  JOIN uses AS later ON later.memberId = own.memberId AND later.undoId > own.undoId
  JOIN firsts AS ofLater ON ofLater.memberId = later.memberId AND ofLater.email = later.email
  WHERE ofLater.firstUse <= ofOwn.firstUse
);
