-- Forget the run at ?2.
DELETE FROM pawl.job_run WHERE id = ?2
