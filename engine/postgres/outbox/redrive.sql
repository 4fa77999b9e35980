-- Give failed messages a fresh start, oldest first. $1 ids or null, $2 topic or null, $3 how many.
SELECT pawl.outbox_redrive($1, $2, $3)
