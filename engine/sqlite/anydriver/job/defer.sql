-- Look again at a broken job after a while. ?1 now, ?2 id, ?3 version, ?4 delay, ?5 why.
UPDATE pawl.job SET due_at = ?1 + ?4, last_error = ?5 WHERE id = ?2 AND version = ?3 AND enabled
