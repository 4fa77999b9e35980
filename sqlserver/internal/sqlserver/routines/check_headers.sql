-- Refuse headers that Go could not have written: @headers is a flat JSON object, null for
-- none, and is null afterwards if it is empty. Numbers and booleans pass: Go reads them as
-- text.
CREATE PROCEDURE pawl.check_headers @headers nvarchar(max) OUTPUT AS
BEGIN
SET NOCOUNT ON;
DECLARE @name nvarchar(max), @text nvarchar(max), @type int, @bytes bigint = 0, @nr int = 0;
DECLARE @all TABLE (nr int NOT NULL PRIMARY KEY, name nvarchar(max) COLLATE Latin1_General_100_BIN2, text nvarchar(max), kind int NOT NULL);
IF @headers IS NULL RETURN 0;
IF ISJSON(@headers) = 0 OR LEFT(LTRIM(REPLACE(REPLACE(REPLACE(LEFT(@headers, 100), NCHAR(9), N' '), NCHAR(10), N' '), NCHAR(13), N' ')), 1) <> N'{' COLLATE Latin1_General_100_BIN2
  EXEC pawl.check_refuse N'headers', N'not an object';
INSERT INTO @all (nr, name, text, kind) SELECT ROW_NUMBER() OVER (ORDER BY (SELECT NULL)), h."key" COLLATE Latin1_General_100_BIN2, h.value, h."type" FROM OPENJSON(@headers) h;
WHILE 1 = 1
BEGIN
  SET @nr = @nr + 1;
  SET @type = NULL;
  SELECT @name = a.name, @text = a.text, @type = a.kind FROM @all a WHERE a.nr = @nr;
  IF @type IS NULL BREAK;
  EXEC pawl.check_text N'header name', @name, 255, 1;
  IF pawl.exactly(@name COLLATE Latin1_General_100_BIN2, N'pawl-expires') AND pawl.outbox_expiry(@headers) IS NULL
    EXEC pawl.check_refuse N'header pawl-expires', N'no time as RFC 3339 has it';
  IF @type NOT IN (1, 2, 3)
    EXEC pawl.check_refuse N'header value', N'not a text';
  SET @bytes = @bytes + DATALENGTH(pawl.outbox_utf8(@name)) + coalesce(DATALENGTH(pawl.outbox_utf8(@text)), 0);
END;
IF @bytes > 16384
  EXEC pawl.check_refuse N'headers', N'more than 16384 bytes';
IF @nr = 1 SET @headers = NULL;
END
