-- Move job ?2 of version ?3 from time ?4 to ?5, due at ?6. ?1 now.
UPDATE pawl.job SET next_time = ?5, due_at = ?6, last_error = NULL WHERE id = ?2 AND version = ?3 AND next_time = ?4 AND enabled
