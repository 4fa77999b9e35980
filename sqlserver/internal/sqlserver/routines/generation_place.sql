-- Where this database is: on which server, and since when. A database that was restored was
-- created then. Every role sees that. How much is written cannot be told.
CREATE PROCEDURE pawl.generation_place @place nvarchar(400) OUTPUT AS
BEGIN
SET NOCOUNT ON;
SELECT @place = CONCAT(CAST(SERVERPROPERTY(N'ServerName') AS nvarchar(255)), N'/', CONVERT(nvarchar(40), d.create_date, 126)) FROM sys.databases d WHERE d.name = DB_NAME();
END
