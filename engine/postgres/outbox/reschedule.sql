-- Make messages $1 due at $2, or now if null, that nobody has claimed; of the audit: $3 id, $4 actor, $5 target, $6 reason.
SELECT pawl.audit_note($3, $4, 'reschedule', $5, $6, pawl.outbox_reschedule($1, coalesce($2, clock_timestamp())))
