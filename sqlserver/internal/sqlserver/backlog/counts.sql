SELECT
  (SELECT COUNT_BIG(*) FROM (SELECT TOP (@most) e.id FROM pawl.outbox_exception e pawl.unlocked() WHERE e.status >= 3 AND e.status = 3) x) AS messages_failed,
  (SELECT COUNT_BIG(*) FROM (SELECT TOP (@most) j.seq FROM pawl.outbox_join j pawl.unlocked() WHERE j.status = 0) x) AS joins_pending,
  (SELECT COUNT_BIG(*) FROM (SELECT TOP (@most) j.seq FROM pawl.outbox_join j pawl.unlocked() WHERE j.status = 1) x) AS joins_completed,
  (SELECT COUNT_BIG(*) FROM (SELECT TOP (@most) j.seq FROM pawl.outbox_join j pawl.unlocked() WHERE j.status = 2) x) AS joins_failed,
  (SELECT COUNT_BIG(*) FROM (SELECT TOP (@most) j.seq FROM pawl.outbox_join j pawl.unlocked() WHERE j.status = 3) x) AS joins_cancelled,
  due.n AS timers_due, ISNULL(pawl.elapsed(due.first, @began), 0) AS timers_due_micros,
  (SELECT COUNT_BIG(*) FROM (SELECT TOP (@most) t.at FROM pawl.timer t pawl.unlocked() WHERE t.status = 0 AND t.at > @began ORDER BY t.at) x) AS timers_scheduled,
  stale.n AS timers_expired, ISNULL(pawl.elapsed(stale.first, @began), 0) AS timers_expired_micros,
  late.n AS jobs_due, ISNULL(pawl.elapsed(late.first, @began), 0) AS jobs_due_micros,
  (SELECT COUNT_BIG(*) FROM (SELECT TOP (@most) p.seq FROM pawl.outbox_pause p pawl.unlocked() WHERE p.kind = N'queue' AND p.ending = 0) x) AS queues_paused,
  (SELECT COUNT_BIG(*) FROM (SELECT TOP (@most) p.seq FROM pawl.outbox_pause p pawl.unlocked() WHERE p.kind = N'topic' AND p.ending = 0) x) AS topics_paused,
  (SELECT COUNT_BIG(*) FROM (SELECT TOP (@most) w.seq FROM pawl.worker_process w pawl.unlocked() WHERE w.expires_at > @now) x) AS workers
  FROM (SELECT COUNT_BIG(*) AS n, MIN(x.at) AS first
    FROM (SELECT TOP (@most) t.at FROM pawl.timer t pawl.unlocked() WHERE t.status = 0 AND t.at <= pawl.minus(@began, @age) ORDER BY t.at) x) due
 CROSS JOIN (SELECT COUNT_BIG(*) AS n, MIN(x.locked_until) AS first
    FROM (SELECT TOP (@most) t.locked_until FROM pawl.timer t pawl.unlocked() WHERE t.status = 1) x WHERE x.locked_until < pawl.minus(@began, @age)) stale
 CROSS JOIN (SELECT COUNT_BIG(*) AS n, MIN(x.due_at) AS first
    FROM (SELECT TOP (@most) j.due_at FROM pawl.job j pawl.unlocked() WHERE j.due_at IS NOT NULL AND j.enabled = 1 AND j.due_at <= pawl.minus(@began, @age) ORDER BY j.due_at) x) late
