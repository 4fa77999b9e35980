-- Cancel the pending timer of key ?2. ?1 now. Rows affected: 1, or 0 if there is
-- none. Runs in a caller's transaction.
UPDATE pawl.timer SET status = 4, processed_at = ?1 WHERE key = ?2 AND key IS NOT NULL AND status < 2 AND status = 0
