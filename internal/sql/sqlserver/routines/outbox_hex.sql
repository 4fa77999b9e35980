-- The last digits of a number in hex.
CREATE FUNCTION pawl.outbox_hex(@n bigint, @digits int) RETURNS varchar(16) AS
BEGIN
DECLARE @text varchar(16) = '';
WHILE LEN(@text) < @digits
BEGIN
  SET @text = SUBSTRING('0123456789abcdef', CAST(@n % 16 AS int) + 1, 1) + @text;
  SET @n = @n / 16;
END;
RETURN @text;
END
