DELETE FROM pawl.job_run WHERE id = @id
