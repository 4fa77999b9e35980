-- Take messages $1 back that nobody has claimed, $2 why; of the audit: $3 id, $4 actor, $5 target, $6 reason.
SELECT pawl.audit_note($3, $4, 'cancel', $5, $6, pawl.outbox_cancel($1, $2))
