-- Note a delivery. Returns 0 if the message may be processed, 2 done, 3 dead, 4 another hash
-- than the first time, 5 somebody is at it. A hash that was missing is filled in. A row is
-- locked from here on: nobody else decides.
CREATE PROCEDURE pawl.inbox_see @source nvarchar(510), @message_id nvarchar(510), @hash varbinary(max), @token uniqueidentifier = NULL AS
BEGIN
DECLARE @seq bigint, @got int = 0, @new bit = 0;
pawl.begin_own()
WHILE 1 = 1
BEGIN
  pawl.inbox_seq()
  UPDATE pawl.inbox
     SET last_seen_utc = SYSUTCDATETIME(), deliveries = deliveries + 1, hash = coalesce(hash, @hash), mismatches = mismatches + CASE WHEN hash <> @hash THEN 1 ELSE 0 END
   WHERE seq = @seq;
  IF @@ROWCOUNT = 1 BREAK;
  EXEC @new = pawl.inbox_put @source, @message_id, @hash;
  IF @new = 1 BREAK;
END;
IF @new = 0
  SELECT @got = CASE WHEN i.hash <> @hash THEN 4
                     WHEN i.status = N'Done' THEN 2
                     WHEN i.status = N'Dead' THEN 3
                     WHEN i.status = N'Processing' AND (@token IS NULL OR i.token IS NULL OR i.token <> @token) AND i.locked_until_utc > SYSUTCDATETIME() THEN 5
                     ELSE 0 END
    FROM pawl.inbox i WHERE i.seq = @seq;
pawl.end_own()
RETURN @got;
END
