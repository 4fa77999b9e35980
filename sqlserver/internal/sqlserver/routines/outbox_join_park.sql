-- Put a claimed wait aside until its join is over: nothing will look at it before its
-- deadline or, without one, ever; the last step wakes it. A join that ended meanwhile has
-- it due at once. So has a flow that is cancelled; one to which a transaction that is open sends something
-- is due soon, as in flow_park. Counts no attempt. Returns 1 if the wait was still @owner's.
CREATE PROCEDURE pawl.outbox_join_park @join uniqueidentifier, @owner uniqueidentifier, @id bigint, @flow bit = 0 AS
BEGIN
DECLARE @seq bigint, @at datetime2(7), @got int = 0, @lock nvarchar(255), @free int;
pawl.run_tables()
pawl.begin_own()
INSERT INTO @run (nr, owner, lo, n) VALUES (1, @owner, @id, 1);
pawl.take()
IF EXISTS (SELECT 1 FROM @taken)
BEGIN
  SELECT @seq = j.seq FROM pawl.outbox_join j WITH (FORCESEEK) WHERE j.join_id = @join;
  UPDATE pawl.outbox_join SET completed_steps = completed_steps WHERE seq = @seq AND status = 0; -- the lock that counting takes
  IF @@ROWCOUNT = 1
  BEGIN
    UPDATE pawl.outbox_join_waiting SET join_id = @join WHERE id = @id;
    IF @@ROWCOUNT = 0
      INSERT INTO pawl.outbox_join_waiting (id, join_id) VALUES (@id, @join);
    SELECT @at = coalesce(j.deadline_utc, CAST('9999-12-31' AS datetime2(7))) FROM pawl.outbox_join j WHERE j.seq = @seq;
    IF @flow = 1
    BEGIN
      pawl.flow_lock(@id, 0)
      IF @free < 0
        SET @at = DATEADD(millisecond, 100, SYSUTCDATETIME());
    END;
  END;
  IF @at IS NULL OR (@flow = 1 AND EXISTS (SELECT 1 FROM pawl.flow_signal s WHERE s.id = @id AND s.name = N''))
    SET @at = SYSUTCDATETIME();
  INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry) SELECT t.lane, @at, t.lo, 1, t.retry FROM @taken t;
  SET @got = 1;
END;
pawl.end_own()
RETURN @got;
END
