-- Take a lease from whoever has it and raise the token. $1 name; of the audit: $2
-- id, $3 actor, $4 target, $5 reason. One row if anyone had it.
SELECT pawl.audit_note($2, $3, 'release', $4, $5, 1) FROM pawl.lease_force($1)
