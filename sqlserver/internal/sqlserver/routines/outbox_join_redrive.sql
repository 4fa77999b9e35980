-- Make a failed join pending, without a deadline that has passed, and its waits replaced. Returns
-- 1, or 0 if the join has not failed.
CREATE PROCEDURE pawl.outbox_join_redrive @join uniqueidentifier AS
BEGIN
DECLARE @now datetime2(7) = SYSUTCDATETIME(), @got int;
pawl.begin_own()
UPDATE pawl.outbox_join SET status = 0, deadline_utc = CASE WHEN deadline_utc > @now THEN deadline_utc END, last_updated_utc = @now WHERE join_id = @join AND status = 2;
SET @got = @@ROWCOUNT;
IF @got = 1
  UPDATE pawl.outbox_join_waiting SET replaced = 1 WHERE join_id = @join;
pawl.end_own()
RETURN @got;
END
