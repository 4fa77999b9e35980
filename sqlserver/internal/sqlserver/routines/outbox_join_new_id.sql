-- An id that sorts by time: UUID version 7.
CREATE PROCEDURE pawl.outbox_join_new_id @id uniqueidentifier OUTPUT AS
BEGIN
SET NOCOUNT ON;
DECLARE @millis bigint = DATEDIFF_BIG(millisecond, '1970-01-01', SYSUTCDATETIME()), @text nvarchar(36) = N'', @i int = 0;
WHILE @i < 12
BEGIN
  IF @i = 4 SET @text = N'-' + @text;
  SELECT @text = SUBSTRING(N'0123456789abcdef', CAST(@millis % 16 AS int) + 1, 1) + @text, @millis = @millis / 16, @i = @i + 1;
END;
SET @id = CAST(@text + N'-7' + SUBSTRING(CAST(NEWID() AS nvarchar(36)), 16, 21) AS uniqueidentifier); -- a random one has its variant there, too
END
