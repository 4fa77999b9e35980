-- next_job()
-- When the next run of a job is due. One from before 1970 was put there by others: its distance may be too large a number.
(SELECT max(0, j.due_at) FROM pawl.job j INDEXED BY pawl.job_due WHERE j.due_at IS NOT NULL AND j.enabled ORDER BY j.due_at LIMIT 1)
