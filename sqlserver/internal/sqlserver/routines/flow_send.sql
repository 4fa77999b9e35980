-- Send a flow a signal in the caller's transaction: it is kept until the flow asks for it. The payload is JSON.
CREATE PROCEDURE pawl.flow_send @flow uniqueidentifier, @name nvarchar(510), @payload nvarchar(max) = N'null' AS
BEGIN
SET NOCOUNT ON;
DECLARE @got int, @data varbinary(max) = CAST(CAST(@payload COLLATE Latin1_General_100_BIN2_UTF8 AS varchar(max)) AS varbinary(max)), @text nvarchar(2048) = CONCAT(N'flow ', LOWER(CAST(@flow AS nvarchar(36))), N' not found'), @bytes bigint;
EXEC pawl.check_isolation N'send a signal';
EXEC pawl.check_id N'flow', @flow;
EXEC pawl.check_text N'name', @name, 255, 1;
SET @bytes = DATALENGTH(@data);
EXEC pawl.check_bytes N'payload', @bytes, 65536;
EXEC @got = pawl.flow_put_signal @flow, @name, @data;
IF @got = 1 RETURN 0;
IF @got = 2 SET @text = CONCAT(N'flow ', LOWER(CAST(@flow AS nvarchar(36))), N' is over');
THROW 57121, @text, 1;
END
