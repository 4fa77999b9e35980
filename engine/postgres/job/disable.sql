-- Have a job make no runs. $1 name. Rows affected: 1, or 0 if it makes none.
UPDATE pawl.job SET enabled = false, next_time = NULL, due_at = NULL, version = version + 1, updated_at = clock_timestamp() WHERE name = $1 AND enabled
