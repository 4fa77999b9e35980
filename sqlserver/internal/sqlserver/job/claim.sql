DECLARE @IDS nvarchar(max);
DECLARE @RUNS TABLE (id bigint NOT NULL PRIMARY KEY);
EXEC pawl.job_claim_runs @owner, @lease, @most, @IDS OUTPUT;
INSERT INTO @RUNS (id) SELECT x.id FROM OPENJSON(@IDS) WITH (id bigint) x;
SELECT pawl.message(m), c.retry AS retry_count, l.queue, l.priority, c.locked_until
  FROM @RUNS x INNER LOOP JOIN pawl.outbox_claimed c ON c.lo = x.id INNER LOOP JOIN pawl.outbox_message m ON m.id = x.id INNER LOOP JOIN pawl.outbox_lane l ON l.id = m.lane ORDER BY x.id
