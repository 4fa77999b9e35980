DECLARE @GRANTED bigint, @UNTIL datetime2(7);
EXEC pawl.lease_acquire_row @name, @owner, @holder, @lease, @GRANTED OUTPUT, @UNTIL OUTPUT;
SELECT @GRANTED AS token, @UNTIL AS lease_until_utc WHERE @GRANTED IS NOT NULL
