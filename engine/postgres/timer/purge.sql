-- Forget timers that were over longer ago than $1, at most $2. Answers how many went.
WITH gone AS (
  DELETE FROM pawl.timer t WHERE t.id = ANY (ARRAY(
    SELECT x.id FROM pawl.timer x WHERE x.status >= 2 AND x.processed_at < clock_timestamp() - $1::interval ORDER BY x.processed_at LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING 1)
SELECT count(*) FROM gone
