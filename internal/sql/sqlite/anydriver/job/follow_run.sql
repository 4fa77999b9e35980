UPDATE pawl.job_run SET outcome = NULL, end_time = NULL WHERE id = @id AND outcome = 4
