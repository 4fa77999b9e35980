-- Run a job now. $1 name, $2 position, $3 id of the run. Answers 0 for an unknown job.
SELECT pawl.job_trigger_run($1, $2, $3)::int8
