-- Have a job make runs again. $1 name, $2 version, $3 next time, $4 when that is
-- due; of the audit: $5 id, $6 actor, $7 target, $8 reason. Rows affected: 1, or 0
-- if it is another by now.
WITH u AS (
  UPDATE pawl.job SET enabled = true, next_time = $3, due_at = $4, last_error = NULL, version = version + 1, updated_at = clock_timestamp()
   WHERE name = $1 AND version = $2 AND NOT enabled RETURNING 1)
SELECT pawl.audit_note($5, $6, 'enable', $7, $8, 1) FROM u
