-- Cancel a pending timer. $1 id, $2 the position that it carries, or 0; of the
-- audit: $3 id, $4 actor, $5 target, $6 reason. Rows affected: 1 it will never
-- fire, 0 it is not pending. Runs in a caller's transaction.
WITH c AS (
  UPDATE pawl.timer SET status = 4, processed_at = clock_timestamp()
   WHERE id = coalesce((SELECT id FROM pawl.timer WHERE id = $2 AND timer_id = $1), (SELECT id FROM pawl.timer WHERE timer_id = $1 AND supplied)) AND status = 0
  RETURNING 1)
SELECT pawl.audit_note($3, $4, 'cancel', $5, $6, 1) FROM c
