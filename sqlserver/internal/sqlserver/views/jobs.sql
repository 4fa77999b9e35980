-- The seed's Jobs and JobRuns, column for column (D-102).
CREATE VIEW pawl.jobs AS
SELECT j.id, j.name AS job_name, j.schedule AS cron_schedule, j.topic, pawl.outbox_text(j.payload) AS payload, j.enabled AS is_enabled, j.next_time AS next_due_time,
       coalesce(i.start_time, i.created_at) AS last_run_time,
       CASE i.status WHEN 0 THEN N'Pending' WHEN 1 THEN N'Running' WHEN 2 THEN N'Succeeded' WHEN 3 THEN N'Failed' WHEN 4 THEN N'Cancelled' END AS last_run_status,
       j.zone, l.queue, l.priority, j.last_error
  FROM pawl.job j LEFT JOIN pawl.outbox_lane l ON l.id = j.lane LEFT JOIN pawl.job_run_item i ON i.id = j.last_run;
