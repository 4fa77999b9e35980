-- Run a job now. $1 name, $2 position, $3 id of the run; of the audit: $4 id, $5
-- actor, $6 target, $7 reason. Answers 0 for an unknown job.
SELECT pawl.audit_note($4, $5, 'trigger', $6, $7, pawl.job_trigger_run($1, $2, $3))
