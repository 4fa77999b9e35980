SELECT
  (SELECT count(*) FROM (SELECT FROM pawl.outbox_exception e WHERE e.status >= 3 AND e.status = 3 LIMIT @most) x) AS messages_failed,
  (SELECT count(*) FROM (SELECT FROM pawl.outbox_join j WHERE j.status = 0 LIMIT @most) x) AS joins_pending,
  (SELECT count(*) FROM (SELECT FROM pawl.outbox_join j WHERE j.status = 1 LIMIT @most) x) AS joins_completed,
  (SELECT count(*) FROM (SELECT FROM pawl.outbox_join j WHERE j.status = 2 LIMIT @most) x) AS joins_failed,
  (SELECT count(*) FROM (SELECT FROM pawl.outbox_join j WHERE j.status = 3 LIMIT @most) x) AS joins_cancelled,
  due.n AS timers_due, coalesce(pawl.micros(@began - pawl.finite(due.first)), 0) AS timers_due_micros,
  (SELECT count(*) FROM (SELECT FROM pawl.timer t WHERE t.status = 0 AND t.at > @began ORDER BY t.at LIMIT @most) x) AS timers_scheduled,
  stale.n AS timers_expired, coalesce(pawl.micros(@began - pawl.finite(stale.first)), 0) AS timers_expired_micros,
  late.n AS jobs_due, coalesce(pawl.micros(@began - pawl.finite(late.first)), 0) AS jobs_due_micros,
  (SELECT count(*) FROM (SELECT FROM pawl.outbox_pause p WHERE p.kind = 'queue' AND NOT p.ending LIMIT @most) x) AS queues_paused,
  (SELECT count(*) FROM (SELECT FROM pawl.outbox_pause p WHERE p.kind = 'topic' AND NOT p.ending LIMIT @most) x) AS topics_paused,
  (SELECT count(*) FROM (SELECT FROM pawl.worker_process w WHERE w.expires_at > @now LIMIT @most) x) AS workers
  FROM (SELECT count(*) AS n, min(x.at) AS first FROM (SELECT t.at FROM pawl.timer t WHERE t.status = 0 AND t.at <= @began - @age ORDER BY t.at LIMIT @most) x) due
 CROSS JOIN (SELECT count(*) AS n, min(x.locked_until) AS first
    FROM (SELECT t.locked_until FROM pawl.timer t WHERE t.status = 1 LIMIT @most) x WHERE x.locked_until < @began - @age) stale
 CROSS JOIN (SELECT count(*) AS n, min(x.due_at) AS first
    FROM (SELECT j.due_at FROM pawl.job j WHERE j.due_at IS NOT NULL AND j.enabled AND j.due_at <= @began - @age ORDER BY j.due_at LIMIT @most) x) late
