SELECT id FROM pawl.job_run INDEXED BY pawl.job_run_open WHERE job_id = @job_id AND outcome IS NULL
