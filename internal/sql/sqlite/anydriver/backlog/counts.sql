SELECT 'messages' AS what, 'failed' AS which, count(*) AS n, NULL AS micros
  FROM (SELECT 1 FROM pawl.outbox_exception INDEXED BY pawl.outbox_exception_dead WHERE status >= 3 AND status = 3 LIMIT @most)
UNION ALL
SELECT 'joins', CAST(s.status AS TEXT), (SELECT count(*) FROM (SELECT 1 FROM pawl.outbox_join j INDEXED BY pawl.outbox_join_outcome WHERE j.status = s.status LIMIT @most)), NULL
  FROM (SELECT 0 AS status UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3) s
UNION ALL
SELECT 'timers', 'due', count(*), @now - min(at) FROM (SELECT at FROM pawl.timer INDEXED BY pawl.timer_pending WHERE status = 0 AND at <= @now - @age ORDER BY at LIMIT @most)
UNION ALL
SELECT 'timers', 'scheduled', count(*), NULL FROM (SELECT 1 FROM pawl.timer INDEXED BY pawl.timer_pending WHERE status = 0 AND at > @now LIMIT @most)
UNION ALL
SELECT 'timers', 'expired', count(*), @now - min(locked_until)
  FROM (SELECT locked_until FROM pawl.timer INDEXED BY pawl.timer_claimed WHERE status = 1 LIMIT @most) WHERE locked_until < @now - @age
UNION ALL
SELECT 'jobs', 'due', count(*), @now - min(due_at)
  FROM (SELECT due_at FROM pawl.job INDEXED BY pawl.job_due WHERE due_at IS NOT NULL AND enabled AND due_at <= @now - @age ORDER BY due_at LIMIT @most)
UNION ALL
SELECT 'pauses', k.kind, (SELECT count(*) FROM (SELECT 1 FROM pawl.outbox_pause p WHERE p.kind = k.kind AND NOT p.ending LIMIT @most)), NULL
  FROM (SELECT 'queue' AS kind UNION ALL SELECT 'topic') k
UNION ALL
SELECT 'workers', '', count(*), NULL FROM (SELECT 1 FROM pawl.worker_process WHERE expires_at > @now LIMIT @most)
