-- next_job()
-- When the next run of a job is due: one without an end never, one without a beginning now.
(SELECT CASE WHEN isfinite(x.at) THEN x.at WHEN x.at < @now THEN @now END FROM (SELECT min(j.due_at) AS at FROM pawl.job j WHERE j.due_at IS NOT NULL AND j.enabled) x)
