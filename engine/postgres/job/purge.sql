-- Forget runs that ended longer ago than $1, at most $2, but for each job's last.
-- Answers how many went.
WITH gone AS (
  DELETE FROM pawl.job_run r WHERE r.id = ANY (ARRAY(
    SELECT x.id FROM pawl.job_run x WHERE x.outcome IS NOT NULL AND x.end_time < clock_timestamp() - $1::interval
       AND NOT EXISTS (SELECT FROM pawl.job j WHERE j.id = x.job_id AND j.last_run = x.id) ORDER BY x.end_time LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING 1)
SELECT count(*) FROM gone
