-- Let a timer fire at another time, which may have an offset from UTC. Returns 0 if it fired
-- or was cancelled, 1 otherwise.
CREATE PROCEDURE pawl.timer_reschedule @timer_id uniqueidentifier, @due_time datetimeoffset AS
BEGIN
DECLARE @got int, @carried bigint = pawl.carried(@timer_id), @due datetime2(7) = pawl.check_due(@due_time), @target nvarchar(100) = CONCAT(N'timer ', LOWER(CONVERT(nvarchar(36), @timer_id)));
SET NOCOUNT ON;
IF @due_time IS NULL
  EXEC pawl.check_null N'due time', 1;
pawl.begin_own()
EXEC @got = pawl.timer_move @timer_id, @carried, @due;
EXEC pawl.audit_own N'reschedule', @target, @got;
pawl.end_own()
RETURN @got;
END
