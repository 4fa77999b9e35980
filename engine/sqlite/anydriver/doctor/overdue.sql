-- What was due longer than ?2 ago and has not become a message, at most ?3 of
-- each kind: its kind, how many, and since when. ?1 now.
SELECT 'timers', count(*), min(x.at)
  FROM (SELECT t.at FROM pawl.timer t INDEXED BY pawl.timer_pending WHERE t.status = 0 AND t.at < ?1 - ?2 ORDER BY t.at LIMIT ?3) x
UNION ALL
SELECT 'claimed timers', count(*), min(x.locked_until)
  FROM (SELECT t.locked_until FROM pawl.timer t INDEXED BY pawl.timer_claimed WHERE t.status = 1 LIMIT ?3) x WHERE x.locked_until < ?1 - ?2
UNION ALL
SELECT 'jobs', count(*), min(x.due_at)
  FROM (SELECT j.due_at FROM pawl.job j INDEXED BY pawl.job_due WHERE j.due_at IS NOT NULL AND j.due_at < ?1 - ?2 ORDER BY j.due_at LIMIT ?3) x
