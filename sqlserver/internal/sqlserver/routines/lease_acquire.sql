-- Take a lease of a name, if it is free and nobody waits for it. Always answers one row;
-- acquired says whether the caller has it. holder_id is what the other lease_… procedures
-- take: the one acquisition. With @holder, a repeated call finds what the first one got.
CREATE PROCEDURE pawl.lease_acquire @name nvarchar(max), @owner nvarchar(max), @lease_seconds int, @holder uniqueidentifier = NULL AS
BEGIN
SET NOCOUNT ON;
DECLARE @lease bigint = CAST(@lease_seconds AS bigint) * 1000000, @token bigint, @until datetime2(7);
EXEC pawl.check_isolation N'acquire';
EXEC pawl.check_duration @lease_seconds;
EXEC pawl.check_text N'name', @name, 255, 1;
EXEC pawl.check_text N'owner', @owner, 255, 1;
IF @holder IS NULL OR @holder = CAST(N'00000000-0000-0000-0000-000000000000' AS uniqueidentifier)
  SET @holder = NEWID();
EXEC pawl.lease_acquire_row @name, @owner, @holder, @lease, @token OUTPUT, @until OUTPUT;
SELECT CAST(CASE WHEN @token IS NULL THEN 0 ELSE 1 END AS bit) AS acquired, CASE WHEN @token IS NULL THEN NULL ELSE @holder END AS holder_id, @token AS token,
       @until AS lease_until_utc, SYSUTCDATETIME() AS server_utc_now;
END
