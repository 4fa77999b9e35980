-- What is wrong with a text, null if nothing is: it is longer than @limit characters or, if it
-- is required, missing or blank: white space alone, as Unicode has it. Go's engine.CheckText. A
-- pair of surrogates is one character.
CREATE PROCEDURE pawl.check_fault @value nvarchar(max), @limit int, @required bit, @fault nvarchar(400) OUTPUT AS
BEGIN
SET NOCOUNT ON;
DECLARE @more nvarchar(max) = @value + N'.';
SET @fault = NULL;
-- U+0009–000D, 0020, 0085, 00A0, 1680, 2000–200A, 2028, 2029, 202F, 205F, 3000
IF @required = 1 AND @value IS NULL
  SET @fault = N'null';
ELSE IF @required = 1 AND @value COLLATE Latin1_General_100_BIN2 NOT LIKE N'%[^' + NCHAR(9) + N'-' + NCHAR(13) + N' ' + NCHAR(133) + NCHAR(160) + NCHAR(5760)
    + NCHAR(8192) + N'-' + NCHAR(8202) + NCHAR(8232) + NCHAR(8233) + NCHAR(8239) + NCHAR(8287) + NCHAR(12288) + N']%'
  SET @fault = N'empty or blank';
ELSE IF LEN(@more COLLATE Latin1_General_100_BIN2) - 1 > @limit AND LEN(@more COLLATE Latin1_General_100_BIN2) - 1 > @limit + (
    SELECT COUNT(*) FROM pawl.numbers() k WHERE k.i <= 2 * @limit AND UNICODE(SUBSTRING(@more COLLATE Latin1_General_100_BIN2, k.i + 1, 1)) BETWEEN 56320 AND 57343)
  SET @fault = CONCAT(N'more than ', @limit, N' characters');
END
