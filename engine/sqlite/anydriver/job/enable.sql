-- Have a job make runs again. ?1 now, ?2 name, ?3 version, ?4 next time, ?5 when
-- that is due. Rows affected: 1, or 0 if it is another by now.
UPDATE pawl.job SET enabled = 1, next_time = ?4, due_at = ?5, last_error = NULL, version = version + 1, updated_at = ?1 WHERE name = ?2 AND version = ?3 AND NOT enabled
