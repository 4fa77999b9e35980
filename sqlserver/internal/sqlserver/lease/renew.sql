DECLARE @UNTIL datetime2(7);
EXEC pawl.lease_renew_row @name, @holder, @lease, @UNTIL OUTPUT;
SELECT @UNTIL AS lease_until_utc WHERE @UNTIL IS NOT NULL
