UPDATE pawl.job_run SET start_time = @now WHERE id = @id AND start_time IS NULL
