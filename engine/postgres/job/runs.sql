-- Runs of job $1, latest nominal time first. $2 and $3 before this time and
-- position, $4 how many.
SELECT run_id, id, job_name, scheduled_time, triggered, missed, status::int8, created_at, start_time, end_time, retry_count, last_error
  FROM pawl.job_run_item WHERE job_name = $1 AND (scheduled_time, id) < ($2, $3) ORDER BY scheduled_time DESC, id DESC LIMIT $4
