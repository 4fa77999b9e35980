UPDATE pawl.job SET last_run = @id WHERE id = @job_id
