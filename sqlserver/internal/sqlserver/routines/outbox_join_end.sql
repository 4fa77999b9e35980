-- End a pending join: cancelled (3), or failed (2) if its deadline has passed. Returns 0
-- for an unknown join, 1 if this ended it, 2 if not.
CREATE PROCEDURE pawl.outbox_join_end @join uniqueidentifier, @status int AS
BEGIN
DECLARE @seq bigint, @got int = 0, @over nvarchar(100);
pawl.begin_own()
SELECT @seq = j.seq FROM pawl.outbox_join j WITH (FORCESEEK) WHERE j.join_id = @join;
UPDATE pawl.outbox_join SET status = @status, last_updated_utc = SYSUTCDATETIME()
 WHERE seq = @seq AND status = 0 AND (@status = 3 OR deadline_utc <= SYSUTCDATETIME());
IF @@ROWCOUNT = 1
BEGIN
  SET @over = CONCAT(N'["', @join, N'"]');
  EXEC pawl.outbox_join_wake @over;
  SET @got = 1;
END
ELSE IF EXISTS (SELECT 1 FROM pawl.outbox_join j WHERE j.seq = @seq)
  SET @got = 2;
pawl.end_own()
RETURN @got;
END
