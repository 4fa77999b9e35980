-- Put $5 on the account of operation $1 of $2, which did $3 to $4.
SELECT pawl.audit_note($1, $2, $3, $4, $5)
