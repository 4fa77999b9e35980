-- The text of an error as it is kept: at most 2048 bytes of UTF-8, cut between characters;
-- null for none (D-7).
CREATE FUNCTION pawl.check_error(@error nvarchar(max)) RETURNS nvarchar(max) AS
BEGIN
DECLARE @text nvarchar(max) = SUBSTRING(@error COLLATE Latin1_General_100_BIN2, 1, 2048), @bytes int, @n int;
SET @bytes = DATALENGTH(pawl.outbox_utf8(@text));
WHILE @bytes > 2048
BEGIN
  SET @n = LEN(@text + N'.') - 1 - (@bytes - 2048 + 2) / 3; -- a unit has three bytes at most, so this never cuts too much
  SET @text = SUBSTRING(@text COLLATE Latin1_General_100_BIN2, 1, @n);
  SET @bytes = DATALENGTH(pawl.outbox_utf8(@text));
END;
IF UNICODE(RIGHT(@text COLLATE Latin1_General_100_BIN2, 1)) BETWEEN 55296 AND 56319
  SET @text = SUBSTRING(@text COLLATE Latin1_General_100_BIN2, 1, LEN(@text + N'.') - 2);
RETURN CASE WHEN @bytes > 0 THEN @text END;
END
