-- Refuse a text that is longer than @limit characters or, if it is required, missing or
-- blank: white space alone, as Unicode has it. Go's engine.CheckText. A pair of surrogates is
-- one character.
CREATE PROCEDURE pawl.check_text @field nvarchar(100), @value nvarchar(max), @limit int, @required bit AS
BEGIN
SET NOCOUNT ON;
DECLARE @reason nvarchar(400), @more nvarchar(max) = @value + N'.';
IF @required = 1 AND @value IS NULL
  EXEC pawl.check_null @field, 1;
-- U+0009–000D, 0020, 0085, 00A0, 1680, 2000–200A, 2028, 2029, 202F, 205F, 3000
IF @required = 1 AND @value COLLATE Latin1_General_100_BIN2 NOT LIKE N'%[^' + NCHAR(9) + N'-' + NCHAR(13) + N' ' + NCHAR(133) + NCHAR(160) + NCHAR(5760)
    + NCHAR(8192) + N'-' + NCHAR(8202) + NCHAR(8232) + NCHAR(8233) + NCHAR(8239) + NCHAR(8287) + NCHAR(12288) + N']%'
  EXEC pawl.check_refuse @field, N'empty or blank';
IF DATALENGTH(@value) > 2 * @limit AND LEN(@more COLLATE Latin1_General_100_CI_AS_SC) - 1 > @limit
BEGIN
  SET @reason = CONCAT(N'more than ', @limit, N' characters');
  EXEC pawl.check_refuse @field, @reason;
END;
END
