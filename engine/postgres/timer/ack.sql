-- Mark claimed timers as done. $1 owner, $2 ids. Answers how many it held.
WITH done AS (
  UPDATE pawl.timer SET status = 2, processed_at = clock_timestamp(), locked_until = NULL WHERE status = 1 AND owner = $1 AND timer_id = ANY ($2::uuid[]) RETURNING 1)
SELECT count(*) FROM done
