-- $1 owners, $2 first ids, $3 lengths, $4 processed by.
SELECT pawl.outbox_ack_runs($1, $2, $3, $4)
