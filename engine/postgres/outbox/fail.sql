-- $1 owners, $2 first ids, $3 lengths, $4 errors, $5 whether to count in joins
-- now, or with an ack later in this transaction.
SELECT pawl.outbox_fail_runs($1, $2, $3, $4, $5)
