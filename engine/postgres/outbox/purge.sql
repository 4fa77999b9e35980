-- Forget messages done or discarded longer ago than $1 and that no pending join
-- needs, looking at the $2 lowest runs.
SELECT pawl.outbox_purge($1, $2)
