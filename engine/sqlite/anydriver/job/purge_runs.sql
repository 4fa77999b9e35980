-- Forget runs that ended before ?2, at most ?3, but for each job's last. ?1 now.
DELETE FROM pawl.job_run WHERE id IN (
  SELECT x.id FROM pawl.job_run x INDEXED BY pawl.job_run_over
   WHERE x.outcome IS NOT NULL AND x.end_time < ?2 AND NOT EXISTS (SELECT 1 FROM pawl.job j WHERE j.id = x.job_id AND j.last_run = x.id) ORDER BY x.end_time LIMIT ?3)
