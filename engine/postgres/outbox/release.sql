-- $1 owners, $2 first ids, $3 lengths, $4 delays, $5 whether suspects stay so: nobody began them.
SELECT pawl.outbox_release_runs($1, $2, $3, $4, $5)
