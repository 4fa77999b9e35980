-- Runs of job ?2, latest nominal time first. ?1 now, ?3 and ?4 before this time
-- and position, ?5 how many.
SELECT run_id, id, job_name, scheduled_time, triggered, missed, status, created_at, start_time, end_time, retry_count, last_error
  FROM pawl.job_run_item WHERE job_name = ?2 AND (scheduled_time, id) < (?3, ?4) ORDER BY scheduled_time DESC, id DESC LIMIT ?5
