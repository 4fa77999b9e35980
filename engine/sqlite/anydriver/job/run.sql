-- The run at position ?2.
SELECT run_id, id, job_name, scheduled_time, triggered, missed, status, created_at, start_time, end_time, retry_count, last_error
  FROM pawl.job_run_item WHERE id = ?2
