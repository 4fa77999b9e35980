-- Bring back what was laid aside of topic $1, whose pause ends, at most $2 runs.
SELECT pawl.outbox_unpark_runs($1, $2)
