-- Make a message that is in no place ready again, or due when it was to be. Reads are serializable until the
-- routine ends: without row versions a message that moves meanwhile could be seen nowhere. A message with
-- an ordering key is put in order by the next claim. Returns 1, or 0 if the message is somewhere, or does
-- not exist.
CREATE PROCEDURE pawl.outbox_place @id bigint AS
BEGIN
DECLARE @got int = 0;
SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; -- until the routine ends
pawl.begin_own()
INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry)
SELECT m.lane, coalesce(m.due_at, SYSUTCDATETIME()), m.id, 1, coalesce((SELECT e.retry_count FROM pawl.outbox_exception e WHERE e.id = m.id), 0)
  FROM pawl.outbox_message m WHERE m.id = @id AND pawl.nowhere(m.id);
SET @got = @@ROWCOUNT;
pawl.end_own()
RETURN @got;
END
