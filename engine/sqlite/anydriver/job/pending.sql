-- Runs of job ?2 whose message may still be taken back.
SELECT id FROM pawl.job_run INDEXED BY pawl.job_run_open WHERE job_id = ?2 AND outcome IS NULL
