-- Where this database is: its own identity and the fork of its history, which is another
-- one after a restore to a point in time. A server that does not tell is known by when the
-- database was made there. How much is written cannot be told.
CREATE PROCEDURE pawl.generation_place @place nvarchar(400) OUTPUT AS
BEGIN
SET NOCOUNT ON;
SET @place = NULL;
IF OBJECT_ID(N'sys.database_recovery_status') IS NOT NULL
  EXEC sys.sp_executesql N'SELECT @place = CONCAT(r.database_guid, N''/'', r.recovery_fork_guid) FROM sys.database_recovery_status r WHERE r.database_id = DB_ID() AND r.database_guid IS NOT NULL',
    N'@place nvarchar(400) OUTPUT', @place OUTPUT;
IF @place IS NULL
  SELECT @place = CONCAT(N'since ', CONVERT(nvarchar(40), d.create_date, 126)) FROM sys.databases d WHERE d.database_id = DB_ID();
END
