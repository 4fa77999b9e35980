-- Store the result of a message that @owner_token holds, for every join of which it is a
-- member, or for those who await it: call it before outbox_ack, in the same transaction. An empty one is
-- none. Returns 1, or 0 for a message that is not held: then nothing is stored.
CREATE PROCEDURE pawl.outbox_set_result @owner_token uniqueidentifier, @id bigint, @result nvarchar(max) AS
BEGIN
SET NOCOUNT ON;
DECLARE @bytes varbinary(max) = pawl.outbox_utf8(@result), @size bigint, @got int;
DECLARE @list pawl.outbox_result_list;
SET @size = DATALENGTH(@bytes);
EXEC pawl.check_isolation N'store a result';
EXEC pawl.check_id N'owner token', @owner_token;
IF @result IS NULL EXEC pawl.check_null N'result', 1;
EXEC pawl.check_bytes N'result', @size, 65536;
INSERT INTO @list (owner, id, result) SELECT @owner_token, @id, @bytes WHERE @id IS NOT NULL;
EXEC @got = pawl.outbox_join_results @list;
RETURN CASE WHEN @got > 0 THEN 1 ELSE 0 END;
END
