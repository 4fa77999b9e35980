DECLARE @IDS nvarchar(max);
EXEC pawl.job_claim_runs @owner, @lease, @most, @IDS OUTPUT;
SELECT pawl.message(m), c.retry AS retry_count, l.queue, l.priority, c.locked_until
  FROM OPENJSON(@IDS) WITH (id bigint) x INNER JOIN pawl.outbox_claimed c ON c.lo = x.id INNER JOIN pawl.outbox_message m ON m.id = x.id INNER JOIN pawl.outbox_lane l ON l.id = m.lane ORDER BY m.id
