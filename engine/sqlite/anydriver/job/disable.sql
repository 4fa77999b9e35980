-- Have a job make no runs. ?1 now, ?2 name. Rows affected: 1, or 0 if it makes none.
UPDATE pawl.job SET enabled = 0, next_time = NULL, due_at = NULL, version = version + 1, updated_at = ?1 WHERE name = ?2 AND enabled
