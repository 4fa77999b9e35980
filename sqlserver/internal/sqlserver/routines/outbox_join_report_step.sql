-- Count a member as completed (1) or failed (2) by hand. Returns 0 for an unknown join, 1
-- if this counted it, 2 if it was counted before or the join is over, 3 for a message that
-- is no member.
CREATE PROCEDURE pawl.outbox_join_report_step @join uniqueidentifier, @message uniqueidentifier, @status int AS
BEGIN
DECLARE @seq bigint, @of bigint, @over smallint, @counted smallint, @got int, @completed int, @failed int;
pawl.begin_own()
SELECT @seq = j.seq FROM pawl.outbox_join j WITH (FORCESEEK) WHERE j.join_id = @join;
UPDATE pawl.outbox_join SET completed_steps = completed_steps WHERE seq = @seq; -- the lock that counting takes
SET @got = @@ROWCOUNT;
IF @got = 1
BEGIN
  SELECT @over = j.status FROM pawl.outbox_join j WHERE j.seq = @seq;
  SELECT @of = m.seq FROM pawl.outbox_join_member m WITH (FORCESEEK) WHERE m.join_id = @join AND m.outbox_message_id = @message;
  SELECT @counted = m.status FROM pawl.outbox_join_member m WHERE m.seq = @of;
  IF @of IS NULL
    SET @got = 3;
  ELSE IF @over <> 0 OR @counted <> 0
    SET @got = 2;
  ELSE
  BEGIN
    UPDATE pawl.outbox_join_member SET status = @status WHERE seq = @of;
    SELECT @completed = CASE WHEN @status = 1 THEN 1 ELSE 0 END, @failed = CASE WHEN @status = 2 THEN 1 ELSE 0 END;
    EXEC pawl.outbox_join_add @join, @completed, @failed;
  END;
END;
pawl.end_own()
RETURN @got;
END
