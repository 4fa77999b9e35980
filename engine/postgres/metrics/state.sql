-- How many joins, timers, pauses and living workers there are, counted up to $1 each.
SELECT 'joins', s::text, (SELECT count(*) FROM (SELECT FROM pawl.outbox_join j WHERE j.status = s LIMIT $1::int8) x) FROM generate_series(0, 3) s
UNION ALL
SELECT 'timers', 'due', (SELECT count(*) FROM (SELECT FROM pawl.timer t WHERE t.status = 0 AND t.at <= now() ORDER BY t.at LIMIT $1::int8) x)
UNION ALL
SELECT 'timers', 'scheduled', (SELECT count(*) FROM (SELECT FROM pawl.timer t WHERE t.status = 0 AND t.at > now() ORDER BY t.at LIMIT $1::int8) x)
UNION ALL
SELECT 'pauses', p.kind, count(*) FROM (SELECT x.kind FROM pawl.outbox_pause x WHERE NOT x.ending LIMIT $1::int8) p GROUP BY p.kind
UNION ALL
SELECT 'workers', '', (SELECT count(*) FROM (SELECT FROM pawl.worker_process w WHERE w.expires_at > clock_timestamp() LIMIT $1::int8) x)
