-- Forget messages done longer ago than $1, at most $2. Answers how many went.
WITH gone AS (
  DELETE FROM pawl.inbox i WHERE (i.source, i.message_id) IN (
    SELECT x.source, x.message_id FROM pawl.inbox x WHERE x.status = 'Done' AND x.processed_utc < clock_timestamp() - $1::interval
     ORDER BY x.processed_utc LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING 1)
SELECT count(*) FROM gone
