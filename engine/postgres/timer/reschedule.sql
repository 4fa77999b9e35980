-- Let a pending timer fire at another time. $1 id, $2 the position that it
-- carries, or 0 (unused), $3 due time or null for now; of the audit: $4 id, $5
-- actor, $6 target, $7 reason. Rows affected: 1, or 0 if it is not pending. Runs in
-- a caller's transaction.
SELECT pawl.audit_note($4, $5, 'reschedule', $6, $7, 1) FROM generate_series(1, pawl.timer_move($1, $3)) WHERE $2::int8 IS NOT NULL
