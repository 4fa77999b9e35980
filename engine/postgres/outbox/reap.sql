-- $1 how many runs at most.
SELECT pawl.outbox_reap_runs($1)
