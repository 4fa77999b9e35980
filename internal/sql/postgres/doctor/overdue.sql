SELECT 'timers' AS kind, count(*) AS n, min(x.at) AS since
  FROM (SELECT t.at FROM pawl.timer t WHERE t.status = 0 AND t.at < @now - @age ORDER BY t.at LIMIT @look) x
UNION ALL
SELECT 'claimed timers', count(*), min(x.locked_until)
  FROM (SELECT t.locked_until FROM pawl.timer t WHERE t.status = 1 LIMIT @look) x WHERE x.locked_until < @now - @age
UNION ALL
SELECT 'jobs', count(*), min(x.due_at)
  FROM (SELECT j.due_at FROM pawl.job j WHERE j.due_at IS NOT NULL AND j.due_at < @now - @age ORDER BY j.due_at LIMIT @look) x
