-- Message ?2, which failed before, is tried again at ?3. ?1 now.
UPDATE pawl.outbox_exception SET next_attempt_at = ?3, updated_at = ?1 WHERE id = ?2 AND status = 0
