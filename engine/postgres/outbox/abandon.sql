-- $1 owners, $2 first ids, $3 lengths, $4 delays (null: backoff), $5 errors.
SELECT pawl.outbox_abandon_runs($1, $2, $3, $4, $5)
