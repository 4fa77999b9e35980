SELECT
  (SELECT count(*) FROM (SELECT 1 FROM pawl.outbox_exception INDEXED BY pawl.outbox_exception_dead WHERE status >= 3 AND status = 3 LIMIT @most)) AS messages_failed,
  (SELECT count(*) FROM (SELECT 1 FROM pawl.outbox_join INDEXED BY pawl.outbox_join_outcome WHERE status = 0 LIMIT @most)) AS joins_pending,
  (SELECT count(*) FROM (SELECT 1 FROM pawl.outbox_join INDEXED BY pawl.outbox_join_outcome WHERE status = 1 LIMIT @most)) AS joins_completed,
  (SELECT count(*) FROM (SELECT 1 FROM pawl.outbox_join INDEXED BY pawl.outbox_join_outcome WHERE status = 2 LIMIT @most)) AS joins_failed,
  (SELECT count(*) FROM (SELECT 1 FROM pawl.outbox_join INDEXED BY pawl.outbox_join_outcome WHERE status = 3 LIMIT @most)) AS joins_cancelled,
  due.n AS timers_due, coalesce(due.micros, 0) AS timers_due_micros,
  (SELECT count(*) FROM (SELECT 1 FROM pawl.timer INDEXED BY pawl.timer_pending WHERE status = 0 AND at > @now LIMIT @most)) AS timers_scheduled,
  stale.n AS timers_expired, coalesce(stale.micros, 0) AS timers_expired_micros, late.n AS jobs_due, coalesce(late.micros, 0) AS jobs_due_micros,
  (SELECT count(*) FROM (SELECT 1 FROM pawl.outbox_pause WHERE kind = 'queue' AND NOT ending LIMIT @most)) AS queues_paused,
  (SELECT count(*) FROM (SELECT 1 FROM pawl.outbox_pause WHERE kind = 'topic' AND NOT ending LIMIT @most)) AS topics_paused,
  (SELECT count(*) FROM (SELECT 1 FROM pawl.worker_process WHERE expires_at > @now LIMIT @most)) AS workers
  FROM (SELECT count(*) AS n, @now - max(0, min(at)) AS micros
          FROM (SELECT at FROM pawl.timer INDEXED BY pawl.timer_pending WHERE status = 0 AND at <= @now - @age ORDER BY at LIMIT @most)) due
 CROSS JOIN (SELECT count(*) AS n, @now - max(0, min(locked_until)) AS micros
          FROM (SELECT locked_until FROM pawl.timer INDEXED BY pawl.timer_claimed WHERE status = 1 LIMIT @most) WHERE locked_until < @now - @age) stale
 CROSS JOIN (SELECT count(*) AS n, @now - max(0, min(due_at)) AS micros
          FROM (SELECT due_at FROM pawl.job INDEXED BY pawl.job_due WHERE due_at IS NOT NULL AND enabled AND due_at <= @now - @age ORDER BY due_at LIMIT @most)) late
