SELECT 'joins' AS what, s::text AS which, (SELECT count(*) FROM (SELECT FROM pawl.outbox_join j WHERE j.status = s LIMIT @most) x) AS n FROM generate_series(0, 3) s
UNION ALL
SELECT 'timers', 'due', (SELECT count(*) FROM (SELECT FROM pawl.timer t WHERE t.status = 0 AND t.at <= @began ORDER BY t.at LIMIT @most) x)
UNION ALL
SELECT 'timers', 'scheduled', (SELECT count(*) FROM (SELECT FROM pawl.timer t WHERE t.status = 0 AND t.at > @began ORDER BY t.at LIMIT @most) x)
UNION ALL
SELECT 'pauses', p.kind, count(*) FROM (SELECT x.kind FROM pawl.outbox_pause x WHERE NOT x.ending LIMIT @most) p GROUP BY p.kind
UNION ALL
SELECT 'workers', '', (SELECT count(*) FROM (SELECT FROM pawl.worker_process w WHERE w.expires_at > @now LIMIT @most) x)
