-- $1 owners, $2 first ids, $3 lengths, $4 lease.
SELECT pawl.outbox_extend_runs($1, $2, $3, $4)
