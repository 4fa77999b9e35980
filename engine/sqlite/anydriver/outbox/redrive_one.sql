-- Give failed message ?2 a fresh start. ?1 now.
UPDATE pawl.outbox_exception SET status = 0, retry_count = 0, next_attempt_at = ?1, redrives = redrives + 1, updated_at = ?1 WHERE id = ?2
