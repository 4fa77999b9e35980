-- A text as UTF-8; half of a surrogate pair becomes U+FFFD. Versions before 2019 have no
-- function for it. Where all is ASCII it is a conversion.
CREATE FUNCTION pawl.outbox_utf8(@text nvarchar(max)) RETURNS varbinary(max) AS
BEGIN
DECLARE @all varbinary(max) = 0x, @part nvarchar(2000), @bytes varbinary(8000), @at bigint = 1, @end bigint = DATALENGTH(@text) / 2, @i int, @n int, @c int, @d int;
IF @text IS NULL RETURN NULL;
IF @text COLLATE Latin1_General_100_BIN2 NOT LIKE N'%[^' + NCHAR(1) + N'-' + NCHAR(127) + N']%' COLLATE Latin1_General_100_BIN2
  RETURN CAST(CAST(@text AS varchar(max)) AS varbinary(max));
WHILE @at <= @end
BEGIN
  SET @part = SUBSTRING(@text COLLATE Latin1_General_100_BIN2, @at, 1999);
  SET @n = DATALENGTH(@part) / 2;
  IF @at + @n <= @end AND UNICODE(SUBSTRING(@part COLLATE Latin1_General_100_BIN2, @n, 1)) BETWEEN 55296 AND 56319
  BEGIN
    SET @part = SUBSTRING(@text COLLATE Latin1_General_100_BIN2, @at, 1998);
    SET @n = 1998;
  END;
  SET @at = @at + @n;
  IF @part COLLATE Latin1_General_100_BIN2 NOT LIKE N'%[^' + NCHAR(1) + N'-' + NCHAR(127) + N']%' COLLATE Latin1_General_100_BIN2
  BEGIN
    SET @all = @all + CAST(CAST(@part AS varchar(2000)) AS varbinary(2000));
    CONTINUE;
  END;
  SELECT @i = 1, @bytes = 0x;
  WHILE @i <= @n
  BEGIN
    SET @c = UNICODE(SUBSTRING(@part COLLATE Latin1_General_100_BIN2, @i, 1));
    SET @i = @i + 1;
    IF @c BETWEEN 55296 AND 57343
    BEGIN
      SET @d = CASE WHEN @i <= @n THEN UNICODE(SUBSTRING(@part COLLATE Latin1_General_100_BIN2, @i, 1)) ELSE 0 END;
      IF @c < 56320 AND @d BETWEEN 56320 AND 57343
        SELECT @c = 65536 + (@c - 55296) * 1024 + @d - 56320, @i = @i + 1;
      ELSE
        SET @c = 65533;
    END;
    SET @bytes = @bytes + CASE
      WHEN @c < 128 THEN CAST(CAST(@c AS binary(1)) AS varbinary(4)) -- not padded to the longest branch
      WHEN @c < 2048 THEN CAST(192 + @c / 64 AS binary(1)) + CAST(128 + @c % 64 AS binary(1))
      WHEN @c < 65536 THEN CAST(224 + @c / 4096 AS binary(1)) + CAST(128 + @c / 64 % 64 AS binary(1)) + CAST(128 + @c % 64 AS binary(1))
      ELSE CAST(240 + @c / 262144 AS binary(1)) + CAST(128 + @c / 4096 % 64 AS binary(1)) + CAST(128 + @c / 64 % 64 AS binary(1)) + CAST(128 + @c % 64 AS binary(1)) END;
  END;
  SET @all = @all + @bytes;
END;
RETURN @all;
END
