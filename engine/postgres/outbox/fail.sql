-- $1 owners, $2 first ids, $3 lengths, $4 errors.
SELECT pawl.outbox_fail_runs($1, $2, $3, $4)
