-- Due jobs, first due first, at most $1, and the database's clock.
-- Whether the lane is known, and null for a time that Go cannot tell: one broken
-- job must not stop the others.
SELECT j.id, j.name, j.schedule, j.zone, j.topic, EXISTS (SELECT FROM pawl.outbox_lane l WHERE l.id = j.lane), j.misfire, j.misfire_limit, j.shift,
       CASE WHEN isfinite(j.next_time) THEN j.next_time END, j.version, clock_timestamp()
  FROM pawl.job j WHERE j.due_at <= (SELECT clock_timestamp()) AND j.due_at IS NOT NULL AND j.enabled ORDER BY j.due_at, j.id LIMIT $1
