-- Take due runs under a lease. $1 owner, $2 lease, $3 how many. Columns as in outbox/claim.
SELECT * FROM pawl.job_claim_runs($1, $2, $3)
