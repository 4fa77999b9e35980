-- Delete a job and its pending runs. $1 name; of the audit: $2 id, $3 actor, $4
-- target, $5 reason. Answers 0 for an unknown job.
SELECT pawl.audit_note($2, $3, 'remove', $4, $5, pawl.job_remove($1))
