-- Refuse what cannot have a limit. Go's throttle.check.
CREATE PROCEDURE pawl.check_subject @kind nvarchar(max), @name nvarchar(max) AS
BEGIN
SET NOCOUNT ON;
IF @kind IS NULL EXEC pawl.check_null N'kind', 1;
IF @kind COLLATE Latin1_General_100_BIN2 NOT IN (N'queue', N'topic', N'each') EXEC pawl.check_refuse N'kind', N'neither queue, topic nor each';
EXEC pawl.check_text @kind, @name, 255, 1;
IF @kind = N'each' AND RIGHT(@name, 1) <> N'*' EXEC pawl.check_refuse N'each', N'does not end in *';
END
