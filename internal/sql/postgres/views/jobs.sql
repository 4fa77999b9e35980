-- The seed's Jobs and JobRuns, column for column (D-102).
CREATE OR REPLACE VIEW pawl.jobs AS
SELECT j.id, j.name AS job_name, j.schedule AS cron_schedule, j.topic, pawl.outbox_text(j.payload) AS payload, j.enabled AS is_enabled, j.next_time AS next_due_time,
       (SELECT coalesce(i.start_time, i.created_at) FROM pawl.job_run_item i WHERE i.id = j.last_run) AS last_run_time,
       (SELECT (ARRAY['Pending', 'Running', 'Succeeded', 'Failed', 'Cancelled'])[1 + i.status] FROM pawl.job_run_item i WHERE i.id = j.last_run) AS last_run_status,
       j.zone, l.queue, l.priority, j.last_error
  FROM pawl.job j LEFT JOIN pawl.outbox_lane l ON l.id = j.lane;
