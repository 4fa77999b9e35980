-- What was due longer than $1 ago and has not become a message, at most $2 of
-- each kind: its kind, how many, and since when.
SELECT 'timers', count(*), min(x.at)
  FROM (SELECT t.at FROM pawl.timer t WHERE t.status = 0 AND t.at < clock_timestamp() - $1::interval ORDER BY t.at LIMIT $2) x
UNION ALL
SELECT 'claimed timers', count(*), min(x.locked_until)
  FROM (SELECT t.locked_until FROM pawl.timer t WHERE t.status = 1 LIMIT $2) x WHERE x.locked_until < clock_timestamp() - $1::interval
UNION ALL
SELECT 'jobs', count(*), min(x.due_at)
  FROM (SELECT j.due_at FROM pawl.job j WHERE j.due_at IS NOT NULL AND j.due_at < clock_timestamp() - $1::interval ORDER BY j.due_at LIMIT $2) x
