-- Bytes as text where they are UTF-8, as \x… in hex elsewhere. Versions before 2019 have no
-- function for it. Where all is ASCII it is a conversion.
CREATE FUNCTION pawl.outbox_text(@payload varbinary(max)) RETURNS nvarchar(max) AS
BEGIN
DECLARE @all nvarchar(max) = N'', @part varbinary(4000), @text nvarchar(4000), @at bigint = 1, @end bigint = DATALENGTH(@payload), @i int, @n int, @c int, @more int, @b int, @least int;
IF @payload IS NULL RETURN NULL;
WHILE @at <= @end
BEGIN
  SET @part = SUBSTRING(@payload, @at, 4000);
  IF EXISTS (SELECT 1 FROM pawl.numbers() k WHERE k.i < DATALENGTH(@part) AND SUBSTRING(@part, k.i + 1, 1) >= 0x80) BREAK;
  SET @at = @at + 4000;
END;
IF @at > @end RETURN CAST(CAST(@payload AS varchar(max)) AS nvarchar(max));
SET @at = 1;
WHILE @at <= @end
BEGIN
  SET @part = SUBSTRING(@payload, @at, 3996);
  SET @n = DATALENGTH(@part);
  IF NOT EXISTS (SELECT 1 FROM pawl.numbers() k WHERE k.i < @n AND SUBSTRING(@part, k.i + 1, 1) >= 0x80)
  BEGIN
    SET @all = @all + CAST(CAST(@part AS varchar(4000)) AS nvarchar(4000));
    SET @at = @at + @n;
    CONTINUE;
  END;
  SELECT @i = 1, @text = N'', @part = SUBSTRING(@payload, @at, 4000); -- a character may end behind the others
  WHILE @i <= @n
  BEGIN
    SET @c = CAST(SUBSTRING(@part, @i, 1) AS int);
    SELECT @more = CASE WHEN @c < 128 THEN 0 WHEN @c BETWEEN 194 AND 223 THEN 1 WHEN @c BETWEEN 224 AND 239 THEN 2 WHEN @c BETWEEN 240 AND 244 THEN 3 ELSE -1 END;
    SELECT @least = CASE @more WHEN 2 THEN 2048 WHEN 3 THEN 65536 ELSE 0 END, @c = CASE @more WHEN 1 THEN @c - 192 WHEN 2 THEN @c - 224 WHEN 3 THEN @c - 240 ELSE @c END;
    IF @more < 0 OR @at + @i + @more - 1 > @end RETURN N'\x' + LOWER(CONVERT(nvarchar(max), @payload, 2));
    SET @i = @i + 1;
    WHILE @more > 0
    BEGIN
      SET @b = CAST(SUBSTRING(@part, @i, 1) AS int);
      IF @b NOT BETWEEN 128 AND 191 RETURN N'\x' + LOWER(CONVERT(nvarchar(max), @payload, 2));
      SELECT @c = @c * 64 + @b - 128, @i = @i + 1, @more = @more - 1;
    END;
    IF @c < @least OR @c > 1114111 OR @c BETWEEN 55296 AND 57343 RETURN N'\x' + LOWER(CONVERT(nvarchar(max), @payload, 2));
    SET @text = @text + CASE WHEN @c < 65536 THEN CAST(NCHAR(@c) AS nvarchar(2)) ELSE NCHAR(55296 + (@c - 65536) / 1024) + NCHAR(56320 + (@c - 65536) % 1024) END;
  END;
  SET @all = @all + @text;
  SET @at = @at + @i - 1;
END;
RETURN @all;
END
