DECLARE @IDS nvarchar(max);
EXEC pawl.timer_claim_rows @owner, @lease, @most, @IDS OUTPUT;
SELECT pawl.columns(t), coalesce(l.queue, '') AS queue, coalesce(l.priority, 0) AS priority
  FROM OPENJSON(@IDS) WITH (id bigint) x INNER JOIN pawl.timer t ON t.id = x.id LEFT JOIN pawl.outbox_lane l ON l.id = t.lane ORDER BY t.at, t.id
