pawl.at_most(@most)
DELETE r FROM (
  SELECT TOP (@most) x.id FROM pawl.job_run x WITH (READPAST, UPDLOCK, READCOMMITTEDLOCK)
   WHERE x.outcome IS NOT NULL AND x.end_time < pawl.minus(@now, @age) AND NOT EXISTS (SELECT 1 FROM pawl.job j WHERE j.id = x.job_id AND j.last_run = x.id) ORDER BY x.end_time) old
 INNER LOOP JOIN pawl.job_run r WITH (FORCESEEK) ON r.id = old.id
