-- If times were missed, or the job may not overlap and its last run has not ended, there is
-- only this record.
INSERT INTO pawl.job_run (id, run_id, job_id, job_name, scheduled_time, triggered, missed, outcome, created_at, end_time)
SELECT @id, @run_id, o.id, o.name, @nominal, @triggered, @missed, o.outcome, @now, CASE WHEN o.outcome IS NOT NULL THEN @now END
  FROM (SELECT j.id, j.name,
               CASE WHEN @missed > 0 THEN 6
                    WHEN j.overlap = 1 AND NOT @triggered AND EXISTS (SELECT 1 FROM pawl.job_run_item i WHERE i.job_id = j.id AND i.outcome IS NULL AND i.status < 2) THEN 5 END AS outcome
          FROM pawl.job j WHERE j.id = @job_id) o
 WHERE 1
ON CONFLICT (job_id, scheduled_time) WHERE triggered = 0 DO NOTHING
