-- Make a message a member of a join. One that is settled counts at once.
CREATE PROCEDURE pawl.outbox_join_attach @join_id uniqueidentifier, @message_id uniqueidentifier AS
BEGIN
SET NOCOUNT ON;
DECLARE @got int, @messages nvarchar(max) = CONCAT(N'["', @message_id, N'"]'), @text nvarchar(2048) = CONCAT(N'join ', LOWER(CAST(@join_id AS nvarchar(36))), N' not found');
EXEC pawl.check_isolation N'attach';
EXEC pawl.check_id N'join id', @join_id;
EXEC pawl.check_id N'message id', @message_id;
EXEC @got = pawl.outbox_join_attach_all @join_id, @messages;
IF @got = 0 RETURN 0;
IF @got = 2 SET @text = CONCAT(N'message ', LOWER(CAST(@message_id AS nvarchar(36))), N' not found');
IF @got = 3 SET @text = CONCAT(N'message ', LOWER(CAST(@message_id AS nvarchar(36))), N' is a wait of join ', LOWER(CAST(@join_id AS nvarchar(36))));
THROW 57121, @text, 1;
END
