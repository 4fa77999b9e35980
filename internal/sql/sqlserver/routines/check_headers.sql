-- Refuse headers that Go could not have written: they are a flat JSON object. Numbers and
-- booleans pass: Go reads them as text. @text is what is stored, null for none.
CREATE PROCEDURE pawl.check_headers @headers nvarchar(max), @text nvarchar(max) OUTPUT AS
BEGIN
SET NOCOUNT ON;
DECLARE @nr int = 0, @last int, @name nvarchar(max), @bytes bigint = 0;
DECLARE @header TABLE (nr int NOT NULL PRIMARY KEY, name nvarchar(max) NOT NULL, value nvarchar(max), kind int NOT NULL);
SET @text = NULL;
IF @headers IS NULL RETURN;
IF ISJSON(@headers) = 0 OR NOT EXISTS (SELECT 1 FROM OPENJSON(CASE WHEN ISJSON(@headers) = 1 THEN N'[' + @headers + N']' ELSE N'[]' END) x WHERE x.type = 5)
  EXEC pawl.check_refuse N'headers', N'not an object';
INSERT INTO @header (nr, name, value, kind) SELECT ROW_NUMBER() OVER (ORDER BY x."key"), x."key", x.value, x.type FROM OPENJSON(@headers) x;
SELECT @last = coalesce(MAX(h.nr), 0) FROM @header h;
WHILE @nr < @last
BEGIN
  SET @nr = @nr + 1;
  SELECT @name = h.name FROM @header h WHERE h.nr = @nr;
  EXEC pawl.check_text N'header name', @name, 255, 1;
  IF EXISTS (SELECT 1 FROM @header h WHERE h.nr = @nr AND h.kind NOT IN (1, 2, 3))
    EXEC pawl.check_refuse N'header value', N'not a text';
END;
SELECT @bytes = coalesce(SUM(DATALENGTH(pawl.outbox_utf8(h.name)) + DATALENGTH(pawl.outbox_utf8(h.value))), 0) FROM @header h;
EXEC pawl.check_bytes N'headers', @bytes, 16384;
IF @last > 0 SET @text = @headers;
END
