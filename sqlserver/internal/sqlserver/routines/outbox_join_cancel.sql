-- Cancel a join. Returns 1 if this ended it.
CREATE PROCEDURE pawl.outbox_join_cancel @join_id uniqueidentifier AS
BEGIN
DECLARE @got int, @target nvarchar(max) = CONCAT(N'join ', LOWER(CAST(@join_id AS nvarchar(36)))), @text nvarchar(2048) = CONCAT(N'join ', LOWER(CAST(@join_id AS nvarchar(36))), N' not found');
pawl.begin_own()
EXEC pawl.check_isolation N'cancel';
EXEC pawl.check_id N'join id', @join_id;
EXEC @got = pawl.outbox_join_end @join_id, 3;
IF @got = 0 THROW 57121, @text, 1;
SET @got = CASE WHEN @got = 1 THEN 1 ELSE 0 END;
EXEC pawl.audit_own N'cancel', @target, @got;
pawl.end_own()
RETURN @got;
END
