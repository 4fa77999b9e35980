-- Cancel the pending timer of key $1; of the audit: $2 id, $3 actor, $4 target, $5
-- reason. Rows affected: 1, or 0 if there is none. Runs in a caller's transaction.
SELECT pawl.audit_note($2, $3, 'cancel', $4, $5, 1) FROM generate_series(1, pawl.timer_cancel_row($1))
