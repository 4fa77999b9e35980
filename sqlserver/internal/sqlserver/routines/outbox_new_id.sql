-- A message id that carries its position: UUID version 8, see docs/layout.md. Versions before
-- 2022 cannot write a number in hex that is no varbinary; @one and @two are any numbers below
-- 4096 and 16384.
CREATE FUNCTION pawl.outbox_new_id(@id bigint, @one int, @two int) RETURNS uniqueidentifier AS
BEGIN
DECLARE @millis bigint = DATEDIFF_BIG(millisecond, '1970-01-01', SYSUTCDATETIME()), @text nvarchar(36) = N'', @i int = 0;
WHILE @i < 12
BEGIN
  SELECT @text = SUBSTRING(N'0123456789abcdef', CAST(@id % 16 AS int) + 1, 1) + @text, @id = @id / 16, @i = @i + 1;
END;
SELECT @text = N'-' + @text, @two = @two + 32768, @i = 0;
WHILE @i < 4
BEGIN
  SELECT @text = SUBSTRING(N'0123456789abcdef', @two % 16 + 1, 1) + @text, @two = @two / 16, @i = @i + 1;
END;
SELECT @text = N'-' + @text, @one = @one + 32768, @i = 0;
WHILE @i < 4
BEGIN
  SELECT @text = SUBSTRING(N'0123456789abcdef', @one % 16 + 1, 1) + @text, @one = @one / 16, @i = @i + 1;
END;
SELECT @text = N'-' + @text, @i = 0;
WHILE @i < 12
BEGIN
  IF @i = 4 SET @text = N'-' + @text;
  SELECT @text = SUBSTRING(N'0123456789abcdef', CAST(@millis % 16 AS int) + 1, 1) + @text, @millis = @millis / 16, @i = @i + 1;
END;
RETURN CAST(@text AS uniqueidentifier);
END
