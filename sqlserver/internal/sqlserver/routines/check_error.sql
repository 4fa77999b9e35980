-- The text of an error as it is kept: at most 2048 bytes of UTF-8, cut between characters;
-- null for none (D-7).
CREATE PROCEDURE pawl.check_error @error nvarchar(max) OUTPUT AS
BEGIN
SET NOCOUNT ON;
DECLARE @n int;
SET @error = CASE WHEN @error = N'' THEN NULL ELSE LEFT(@error, 2048) END;
WHILE DATALENGTH(pawl.outbox_utf8(@error)) > 2048
BEGIN
  SET @n = DATALENGTH(@error) / 2 - (DATALENGTH(pawl.outbox_utf8(@error)) - 2048 + 2) / 3;
  IF UNICODE(SUBSTRING(@error COLLATE Latin1_General_100_BIN2, @n, 1)) BETWEEN 55296 AND 56319 SET @n = @n - 1;
  SET @error = SUBSTRING(@error COLLATE Latin1_General_100_BIN2, 1, @n);
END;
END
