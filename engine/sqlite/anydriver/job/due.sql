-- Due jobs, first due first, at most ?2, and the database's clock, ?1.
SELECT j.id, j.name, j.schedule, j.zone, j.topic, EXISTS (SELECT 1 FROM pawl.outbox_lane l WHERE l.id = j.lane), j.misfire, j.misfire_limit, j.shift, j.next_time, j.version, ?1
  FROM pawl.job j INDEXED BY pawl.job_due WHERE j.due_at <= ?1 AND j.due_at IS NOT NULL AND j.enabled ORDER BY j.due_at, j.id LIMIT ?2
