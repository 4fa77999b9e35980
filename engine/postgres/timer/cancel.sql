-- Cancel a pending timer. $1 id, $2 the position that it carries, or 0. Rows
-- affected: 1 it will never fire, 0 it is not pending. Runs in a caller's transaction.
UPDATE pawl.timer SET status = 4, processed_at = clock_timestamp()
 WHERE id = coalesce((SELECT id FROM pawl.timer WHERE id = $2 AND timer_id = $1), (SELECT id FROM pawl.timer WHERE timer_id = $1 AND supplied)) AND status = 0
