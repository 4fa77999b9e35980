-- Claim due runs of jobs, and note that they begin. They are messages, so one that a worker
-- of pawl has is nobody else's.
CREATE PROCEDURE pawl.job_run_claim @owner_token uniqueidentifier, @lease_seconds int, @batch_size int = 50 AS
BEGIN
SET NOCOUNT ON;
DECLARE @ids nvarchar(max), @lease bigint = CAST(@lease_seconds AS bigint) * 1000000;
DECLARE @runs TABLE (id bigint NOT NULL PRIMARY KEY); -- in the order of the answer: payloads are not sorted
EXEC pawl.check_claim @owner_token, @lease_seconds, @batch_size, N'default';
EXEC pawl.check_isolation N'claim';
pawl.read_committed()
IF @batch_size > 1000 SET @batch_size = 1000;
EXEC pawl.outbox_reap_runs 100;
EXEC pawl.job_claim_runs @owner_token, @lease, @batch_size, @ids OUTPUT;
INSERT INTO @runs (id) SELECT x.id FROM OPENJSON(@ids) WITH (id bigint) x;
SELECT m.id, m.message_id AS run_id, r.job_name, r.scheduled_time, m.topic, pawl.outbox_text(m.payload) AS payload, m.headers, c.retry AS retry_count
  FROM @runs x INNER LOOP JOIN pawl.outbox_claimed c ON c.lo = x.id INNER LOOP JOIN pawl.outbox_message m ON m.id = x.id INNER LOOP JOIN pawl.job_run r ON r.id = x.id ORDER BY x.id;
END
