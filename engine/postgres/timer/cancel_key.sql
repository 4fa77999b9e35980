-- Cancel the pending timer of key $1. Rows affected: 1, or 0 if there is none.
-- Runs in a caller's transaction.
UPDATE pawl.timer SET status = 4, processed_at = clock_timestamp() WHERE key = $1 AND status < 2 AND status = 0
