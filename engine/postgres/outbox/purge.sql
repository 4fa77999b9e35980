-- Forget messages done or discarded longer ago than $1 and that no pending join
-- needs, looking at the $2 lowest runs. First the outcome of those that are runs
-- of jobs is written down.
SELECT pawl.outbox_purge($1, $2) FROM pawl.job_settle()
