-- Give failed message ?2 up. ?1 now.
UPDATE pawl.outbox_exception SET status = 4, next_attempt_at = NULL, updated_at = ?1 WHERE id = ?2
