-- Claim for a worker in another language: nothing of a paused queue. What came back
-- from an expired lease is claimed apart from others and before them: claim when you
-- hold nothing. Answers the messages.
CREATE PROCEDURE pawl.outbox_claim @owner_token uniqueidentifier, @lease_seconds int, @batch_size int = 50, @queue nvarchar(max) = N'default' AS
BEGIN
DECLARE @lease bigint = CAST(@lease_seconds AS bigint) * 1000000, @most int = CASE WHEN @batch_size > 1000 THEN 1000 ELSE @batch_size END, @versioned bit;
DECLARE @got TABLE (id bigint NOT NULL, message_id uniqueidentifier NOT NULL, topic nvarchar(510), correlation_id nvarchar(510), headers nvarchar(max), payload varbinary(max),
  created_at datetime2(7) NOT NULL, due_at datetime2(7), retry_count int NOT NULL, queue nvarchar(510), priority bigint NOT NULL, locked_until datetime2(7) NOT NULL, nr int IDENTITY PRIMARY KEY);
pawl.begin_own()
EXEC pawl.check_isolation N'claim';
EXEC pawl.check_claim @owner_token, @lease_seconds, @batch_size, @queue;
SELECT @versioned = d.is_read_committed_snapshot_on FROM sys.databases d WHERE d.database_id = DB_ID();
EXEC pawl.outbox_reap_runs 100;
INSERT INTO @got (id, message_id, topic, correlation_id, headers, payload, created_at, due_at, retry_count, queue, priority, locked_until)
EXEC pawl.outbox_claim_any_runs @queue, @owner_token, @lease, @most, @versioned;
pawl.end_own()
SELECT g.id, g.message_id, g.topic, pawl.outbox_text(g.payload) AS payload, g.correlation_id, g.headers, g.created_at, g.due_at AS due_time_utc, g.retry_count FROM @got g ORDER BY g.nr;
END
