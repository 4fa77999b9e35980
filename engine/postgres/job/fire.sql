-- Move jobs on and make their runs, unless somebody else did. Arrays of the jobs:
-- $1 ids, $2 versions, $3 times they are moved from, $4 to, $5 when those are due;
-- of the runs: $6 jobs, $7 nominal times, $8 positions, $9 ids, $10 how many times
-- were missed (0: a run). Answers how many messages there are.
SELECT pawl.job_fire($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
