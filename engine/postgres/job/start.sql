-- A run begins. $1 position.
UPDATE pawl.job_run SET start_time = clock_timestamp() WHERE id = $1 AND start_time IS NULL
