-- Claim due timers, to fire them in a way of one's own, first due first. One that is claimed
-- is not dispatched, and one that was dispatched cannot be claimed.
CREATE PROCEDURE pawl.timer_claim @owner_token uniqueidentifier, @lease_seconds int, @batch_size int = 50 AS
BEGIN
SET NOCOUNT ON;
DECLARE @ids nvarchar(max), @lease bigint = CAST(@lease_seconds AS bigint) * 1000000;
DECLARE @due TABLE (at datetime2(7) NOT NULL, id bigint NOT NULL, PRIMARY KEY (at, id)); -- in the order of the answer: payloads are not sorted
EXEC pawl.check_claim @owner_token, @lease_seconds, @batch_size, N'default';
EXEC pawl.check_isolation N'claim';
pawl.read_committed()
IF @batch_size > 1000 SET @batch_size = 1000;
EXEC pawl.timer_claim_rows @owner_token, @lease, @batch_size, @ids OUTPUT;
INSERT INTO @due (at, id) SELECT t.at, t.id FROM OPENJSON(@ids) WITH (id bigint) x INNER LOOP JOIN pawl.timer t ON t.id = x.id;
SELECT t.timer_id AS id, t.topic, pawl.outbox_text(t.payload) AS payload, t.correlation_id, t.headers, t."key", t.created_at, t.due_time, t.retry_count
  FROM @due d INNER LOOP JOIN pawl.timer t ON t.id = d.id ORDER BY d.at, d.id;
END
