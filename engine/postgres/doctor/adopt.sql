-- Make lanes known that runs lie in and nobody knows. Answers how many. Of the audit:
-- $1 id, $2 actor, $3 target, $4 reason.
SELECT pawl.audit_note($1, $2, 'fix', $3, $4, pawl.outbox_adopt('{}'))
