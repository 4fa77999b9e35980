-- Cancel a pending timer. ?1 now, ?2 id, ?3 the position that it carries, or 0.
-- Rows affected: 1 it will never fire, 0 it is not pending. Runs in a caller's transaction.
UPDATE pawl.timer SET status = 4, processed_at = ?1
 WHERE id = coalesce((SELECT id FROM pawl.timer WHERE id = ?3 AND timer_id = ?2), (SELECT id FROM pawl.timer WHERE timer_id = ?2 AND supplied = 1)) AND status = 0
