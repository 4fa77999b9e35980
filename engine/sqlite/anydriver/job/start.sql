-- A run begins. ?1 now, ?2 position.
UPDATE pawl.job_run SET start_time = ?1 WHERE id = ?2 AND start_time IS NULL
