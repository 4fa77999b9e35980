-- A run of job ?2: ?3 position, ?4 id, ?5 nominal time (null: now), ?6 how many
-- times were missed, ?7 triggered. Where times were missed, or the job may not
-- overlap and its last run is not over, that is all there is of it. ?1 now.
INSERT INTO pawl.job_run (id, run_id, job_id, job_name, scheduled_time, triggered, missed, outcome, created_at, end_time)
SELECT ?3, ?4, o.id, o.name, coalesce(?5, ?1), ?7, ?6, o.outcome, ?1, CASE WHEN o.outcome IS NOT NULL THEN ?1 END
  FROM (SELECT j.id, j.name,
               CASE WHEN ?6 > 0 THEN 6
                    WHEN j.overlap = 1 AND NOT ?7 AND EXISTS (SELECT 1 FROM pawl.job_run_item i WHERE i.job_id = j.id AND i.outcome IS NULL AND i.status < 2) THEN 5 END AS outcome
          FROM pawl.job j WHERE j.id = ?2) o
 WHERE 1
ON CONFLICT (job_id, scheduled_time) WHERE triggered = 0 DO NOTHING
