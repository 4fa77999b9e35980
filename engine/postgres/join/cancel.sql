-- Cancel a pending join: $1 id; of the audit: $2 id, $3 actor, $4 target, $5
-- reason. Rows affected: 0 unknown, 1 cancelled, 2 not. Runs in a caller's transaction.
WITH e AS MATERIALIZED (
  SELECT pawl.outbox_join_end($1, 3) AS n)
SELECT pawl.audit_note($2, $3, 'cancel', $4, $5, (e.n = 1)::integer) FROM e, generate_series(1, e.n)
