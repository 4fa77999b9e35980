-- Claim for a worker in another language: nothing of a paused queue. What came back
-- from an expired lease is claimed apart from others and before them: claim it when you
-- hold nothing, and without it (@suspects = 0) when you do. Answers the messages.
CREATE PROCEDURE pawl.outbox_claim @owner_token uniqueidentifier, @lease_seconds int, @batch_size int = 50, @queue nvarchar(max) = N'default', @suspects bit = 1 AS
BEGIN
DECLARE @lease bigint = CAST(@lease_seconds AS bigint) * 1000000, @most int = CASE WHEN @batch_size > 1000 THEN 1000 ELSE @batch_size END, @versioned bit;
pawl.begin_own()
EXEC pawl.check_isolation N'claim';
pawl.read_committed()
EXEC pawl.check_claim @owner_token, @lease_seconds, @batch_size, @queue;
IF @suspects IS NULL EXEC pawl.check_null N'suspects', 1;
SELECT @versioned = d.is_read_committed_snapshot_on FROM sys.databases d WHERE d.name = DB_NAME();
EXEC pawl.outbox_reap_runs 100;
EXEC pawl.outbox_claim_any @queue, @owner_token, @lease, @most, @versioned, N'texts', @suspects;
pawl.end_own()
END
