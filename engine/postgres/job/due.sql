-- Due jobs, first due first, at most $1, and the database's clock.
SELECT j.id, j.name, j.schedule, j.zone, j.misfire, j.misfire_limit, j.shift, j.next_time, j.version, clock_timestamp()
  FROM pawl.job j WHERE j.due_at <= (SELECT clock_timestamp()) AND j.due_at IS NOT NULL AND j.enabled ORDER BY j.due_at, j.id LIMIT $1
