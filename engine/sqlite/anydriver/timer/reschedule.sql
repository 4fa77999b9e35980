-- Let a pending timer fire at another time. ?1 now, ?2 id, ?3 the position that it
-- carries, or 0, ?4 due time or null for now. Rows affected: 1, or 0 if it is not pending. Runs in
-- a caller's transaction.
UPDATE pawl.timer SET due_time = coalesce(?4, ?1), at = coalesce(?4, ?1)
 WHERE id = coalesce((SELECT id FROM pawl.timer WHERE id = ?3 AND timer_id = ?2), (SELECT id FROM pawl.timer WHERE timer_id = ?2 AND supplied = 1)) AND status = 0
