SELECT 'joins' AS what, CAST(s.status AS TEXT) AS which, (SELECT count(*) FROM (SELECT 1 FROM pawl.outbox_join j INDEXED BY pawl.outbox_join_outcome WHERE j.status = s.status LIMIT @most)) AS n
  FROM (SELECT 0 AS status UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3) s
UNION ALL
SELECT 'timers', 'due', (SELECT count(*) FROM (SELECT 1 FROM pawl.timer INDEXED BY pawl.timer_pending WHERE status = 0 AND at <= @now LIMIT @most))
UNION ALL
SELECT 'timers', 'scheduled', (SELECT count(*) FROM (SELECT 1 FROM pawl.timer INDEXED BY pawl.timer_pending WHERE status = 0 AND at > @now LIMIT @most))
UNION ALL
SELECT 'pauses', kind, count(*) FROM (SELECT kind FROM pawl.outbox_pause WHERE NOT ending LIMIT @most) GROUP BY kind
UNION ALL
SELECT 'workers', '', (SELECT count(*) FROM (SELECT 1 FROM pawl.worker_process WHERE expires_at > @now LIMIT @most))
