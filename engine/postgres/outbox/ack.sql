-- $1 owners, $2 first ids, $3 lengths, $4 processed by; $5 first ids and
-- $6 lengths of runs that this transaction failed without counting in joins.
SELECT pawl.outbox_ack_runs($1, $2, $3, $4, $5, $6)
