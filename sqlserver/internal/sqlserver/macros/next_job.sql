-- next_job()
-- When the next run of a job is due.
(SELECT MIN(j.due_at) FROM pawl.job j pawl.unlocked() WHERE j.due_at IS NOT NULL AND j.enabled = 1)
