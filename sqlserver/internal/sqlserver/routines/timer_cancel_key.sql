-- Cancel the pending timer of a key. Returns 1 if that means that it will never fire, and 0 if there
-- is none.
CREATE PROCEDURE pawl.timer_cancel_key @key nvarchar(max) AS
BEGIN
DECLARE @got int, @target nvarchar(max) = CONCAT(N'timer with key ', @key);
SET NOCOUNT ON;
EXEC pawl.check_text N'key', @key, 255, 1;
pawl.begin_own()
EXEC @got = pawl.timer_cancel_row @key;
EXEC pawl.audit_own N'cancel', @target, @got;
pawl.end_own()
RETURN @got;
END
