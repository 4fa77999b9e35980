-- How many joins, timers, pauses and living workers there are, counted up to ?2
-- each. ?1 now.
SELECT 'joins', CAST(s.status AS TEXT), (SELECT count(*) FROM (SELECT 1 FROM pawl.outbox_join j INDEXED BY pawl.outbox_join_outcome WHERE j.status = s.status LIMIT ?2))
  FROM (SELECT 0 AS status UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3) s
UNION ALL
SELECT 'timers', 'due', (SELECT count(*) FROM (SELECT 1 FROM pawl.timer INDEXED BY pawl.timer_pending WHERE status = 0 AND at <= ?1 LIMIT ?2))
UNION ALL
SELECT 'timers', 'scheduled', (SELECT count(*) FROM (SELECT 1 FROM pawl.timer INDEXED BY pawl.timer_pending WHERE status = 0 AND at > ?1 LIMIT ?2))
UNION ALL
SELECT 'pauses', kind, count(*) FROM (SELECT kind FROM pawl.outbox_pause WHERE NOT ending LIMIT ?2) GROUP BY kind
UNION ALL
SELECT 'workers', '', (SELECT count(*) FROM (SELECT 1 FROM pawl.worker_process WHERE expires_at > ?1 LIMIT ?2))
