-- Forget joins that ended longer ago than $1, looking at the $2 oldest of each
-- outcome, unless a wait is still to be handled. Answers how many went.
WITH gone AS (
  DELETE FROM pawl.outbox_join j WHERE j.join_id = ANY (ARRAY(
    SELECT x.join_id FROM unnest('{1,2,3}'::int[]) s(status),
      LATERAL (SELECT y.join_id, y.last_updated_utc FROM pawl.outbox_join y WHERE y.status = s.status ORDER BY y.join_id LIMIT $2) x
     WHERE x.last_updated_utc < clock_timestamp() - $1::interval
       AND NOT EXISTS (SELECT FROM pawl.outbox_join_wait w JOIN pawl.outbox_item i ON i.id = w.id WHERE w.join_id = x.join_id AND i.status < 2)))
  RETURNING 1)
SELECT count(*) FROM gone
