-- Have a job make runs again. $1 name, $2 version, $3 next time, $4 when that is
-- due. Rows affected: 1, or 0 if it is another by now.
UPDATE pawl.job SET enabled = true, next_time = $3, due_at = $4, last_error = NULL, version = version + 1, updated_at = clock_timestamp() WHERE name = $1 AND version = $2 AND NOT enabled
