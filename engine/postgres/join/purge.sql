-- Forget joins that ended longer ago than $1, looking at the $2 oldest of each
-- outcome, unless a wait is still to be handled. Answers how many went.
SELECT pawl.outbox_join_purge($1, $2)
