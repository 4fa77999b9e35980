-- Let the lease of messages, a JSON array of their ids, last for @lease_seconds from now.
-- Returns how many of them @owner_token held.
CREATE PROCEDURE pawl.outbox_extend @owner_token uniqueidentifier, @ids nvarchar(max), @lease_seconds int AS
BEGIN
SET NOCOUNT ON;
DECLARE @runs nvarchar(max), @got int, @lease bigint = CAST(@lease_seconds AS bigint) * 1000000;
EXEC pawl.check_isolation N'extend';
EXEC pawl.check_lease @lease_seconds;
EXEC pawl.outbox_runs @owner_token, @ids, NULL, NULL, @runs OUTPUT;
EXEC @got = pawl.outbox_extend_runs @runs, @lease;
RETURN @got;
END
