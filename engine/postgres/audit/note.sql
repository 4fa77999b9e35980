-- Put $6 on the account of operation $1 of $2, which did $3 to $4, and why: $5 or null.
SELECT pawl.audit_note($1, $2, $3, $4, $5, $6)
