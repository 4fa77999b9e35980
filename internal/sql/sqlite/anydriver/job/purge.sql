DELETE FROM pawl.job_run WHERE id IN (
  SELECT x.id FROM pawl.job_run x INDEXED BY pawl.job_run_over
   WHERE x.outcome IS NOT NULL AND x.end_time < @now - @age
     AND NOT EXISTS (SELECT 1 FROM pawl.job j WHERE j.id = x.job_id AND j.last_run = x.id) ORDER BY x.end_time LIMIT @most)
