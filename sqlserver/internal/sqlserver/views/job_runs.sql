CREATE VIEW pawl.job_runs AS
SELECT i.run_id AS id, i.job_id, i.scheduled_time,
       CASE i.status WHEN 0 THEN N'Pending' WHEN 1 THEN N'Running' WHEN 2 THEN N'Succeeded' WHEN 3 THEN N'Failed' WHEN 4 THEN N'Cancelled' WHEN 5 THEN N'Skipped' WHEN 6 THEN N'Missed' END AS status,
       i.claimed_by, i.start_time AS claimed_at, i.retry_count, i.start_time, i.end_time, CAST(NULL AS nvarchar(max)) AS output, i.last_error, i.job_name, i.triggered, i.missed
  FROM pawl.job_run_item i;
