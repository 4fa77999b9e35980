SELECT 'messages' AS what, 'failed' AS which, count(*) AS n, NULL::int8 AS micros
  FROM (SELECT FROM pawl.outbox_exception e WHERE e.status >= 3 AND e.status = 3 LIMIT @most) x
UNION ALL
SELECT 'joins', s::text, (SELECT count(*) FROM (SELECT FROM pawl.outbox_join j WHERE j.status = s LIMIT @most) x), NULL FROM generate_series(0, 3) s
UNION ALL
SELECT 'timers', 'due', count(*), pawl.micros(@began - pawl.finite(min(x.at)))
  FROM (SELECT t.at FROM pawl.timer t WHERE t.status = 0 AND t.at <= @began - @age ORDER BY t.at LIMIT @most) x
UNION ALL
SELECT 'timers', 'scheduled', count(*), NULL FROM (SELECT FROM pawl.timer t WHERE t.status = 0 AND t.at > @began ORDER BY t.at LIMIT @most) x
UNION ALL
SELECT 'timers', 'expired', count(*), pawl.micros(@began - pawl.finite(min(x.locked_until)))
  FROM (SELECT t.locked_until FROM pawl.timer t WHERE t.status = 1 LIMIT @most) x WHERE x.locked_until < @began - @age
UNION ALL
SELECT 'jobs', 'due', count(*), pawl.micros(@began - pawl.finite(min(x.due_at)))
  FROM (SELECT j.due_at FROM pawl.job j WHERE j.due_at IS NOT NULL AND j.enabled AND j.due_at <= @began - @age ORDER BY j.due_at LIMIT @most) x
UNION ALL
SELECT 'pauses', k, (SELECT count(*) FROM (SELECT FROM pawl.outbox_pause p WHERE p.kind = k AND NOT p.ending LIMIT @most) x), NULL FROM (VALUES ('queue'), ('topic')) v(k)
UNION ALL
SELECT 'workers', '', count(*), NULL FROM (SELECT FROM pawl.worker_process w WHERE w.expires_at > @now LIMIT @most) x
