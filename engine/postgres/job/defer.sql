-- Look again at a broken job after a while. $1 id, $2 version, $3 delay, $4 why.
UPDATE pawl.job SET due_at = clock_timestamp() + $3::interval, last_error = $4 WHERE id = $1 AND version = $2 AND enabled
