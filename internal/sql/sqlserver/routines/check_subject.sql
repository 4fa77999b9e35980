-- Refuse what is no topic or queue that can have a limit. Go's subject.Check.
CREATE PROCEDURE pawl.check_subject @kind nvarchar(max), @name nvarchar(max) AS
BEGIN
SET NOCOUNT ON;
IF @kind IS NULL EXEC pawl.check_null N'kind', 1;
IF @kind COLLATE Latin1_General_100_BIN2 NOT IN (N'queue', N'topic') EXEC pawl.check_refuse N'kind', N'neither queue nor topic';
EXEC pawl.check_text @kind, @name, 255, 1;
END
