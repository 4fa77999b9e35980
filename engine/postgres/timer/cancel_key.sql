-- Cancel the pending timer of key $1; of the audit: $2 id, $3 actor, $4 target, $5
-- reason. Rows affected: 1, or 0 if there is none. Runs in a caller's transaction.
WITH c AS (
  UPDATE pawl.timer SET status = 4, processed_at = clock_timestamp() WHERE key = $1 AND status < 2 AND status = 0 RETURNING 1)
SELECT pawl.audit_note($2, $3, 'cancel', $4, $5, 1) FROM c
