-- Have a job make no runs. $1 name; of the audit: $2 id, $3 actor, $4 target, $5
-- reason. Rows affected: 1, or 0 if it makes none.
WITH u AS (
  UPDATE pawl.job SET enabled = false, next_time = NULL, due_at = NULL, version = version + 1, updated_at = clock_timestamp() WHERE name = $1 AND enabled RETURNING 1)
SELECT pawl.audit_note($2, $3, 'disable', $4, $5, 1) FROM u
