-- Report a step by hand. Returns 1 if this counted it.
CREATE PROCEDURE pawl.outbox_join_report @join_id uniqueidentifier, @message_id uniqueidentifier, @failed bit = 0 AS
BEGIN
SET NOCOUNT ON;
DECLARE @got int, @status int = CASE WHEN @failed = 1 THEN 2 ELSE 1 END, @text nvarchar(2048) = CONCAT(N'join ', LOWER(CAST(@join_id AS nvarchar(36))), N' not found');
EXEC pawl.check_isolation N'report';
EXEC pawl.check_id N'join id', @join_id;
EXEC pawl.check_id N'message id', @message_id;
IF @failed IS NULL EXEC pawl.check_null N'failed', 1;
EXEC @got = pawl.outbox_join_report_step @join_id, @message_id, @status;
IF @got = 1 RETURN 1;
IF @got = 2 RETURN 0;
IF @got = 3 SET @text = CONCAT(N'message ', LOWER(CAST(@message_id AS nvarchar(36))), N' is not a member of join ', LOWER(CAST(@join_id AS nvarchar(36))));
THROW 57121, @text, 1;
END
