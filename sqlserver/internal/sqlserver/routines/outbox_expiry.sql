-- When a message with these headers expires; null for never, and for what is no time as
-- RFC 3339 has it.
CREATE FUNCTION pawl.outbox_expiry(@headers nvarchar(max)) RETURNS datetime2(7) AS
BEGIN
DECLARE @time nvarchar(4000), @zone int, @length int;
IF @headers IS NULL OR ISJSON(@headers) = 0 RETURN NULL;
SET @time = JSON_VALUE(@headers, '$."pawl-expires"');
IF @time IS NULL OR @time NOT LIKE N'[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]%' RETURN NULL;
SET @length = LEN(@time);
IF @time LIKE N'%Z'
  SELECT @zone = 0, @length = @length - 1;
ELSE IF @time LIKE N'%+[0-9][0-9]:[0-9][0-9]' OR @time LIKE N'%-[0-9][0-9]:[0-9][0-9]'
  SELECT @zone = CASE SUBSTRING(@time, @length - 5, 1) WHEN N'-' THEN -1 ELSE 1 END * (CAST(SUBSTRING(@time, @length - 4, 2) AS int) * 60 + CAST(RIGHT(@time, 2) AS int)),
         @length = @length - 6;
RETURN DATEADD(minute, -@zone, TRY_CAST(LEFT(@time, @length) AS datetime2(7)));
END
