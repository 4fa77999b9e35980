-- Forget what was done longer ago than $1, at most $2 entries. Answers how many went.
SELECT pawl.audit_purge($1, $2)
