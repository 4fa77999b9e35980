-- Delete a job and its pending runs. $1 name. Answers 0 for an unknown job.
SELECT pawl.job_remove($1)::int8
