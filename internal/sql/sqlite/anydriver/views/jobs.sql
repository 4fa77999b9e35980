CREATE VIEW pawl.jobs AS
SELECT lower(substr(hex(j.id), 1, 8) || '-' || substr(hex(j.id), 9, 4) || '-' || substr(hex(j.id), 13, 4)
         || '-' || substr(hex(j.id), 17, 4) || '-' || substr(hex(j.id), 21)) AS id,
       j.name AS job_name, j.schedule AS cron_schedule, j.topic, j.payload, j.enabled AS is_enabled,
       strftime('%Y-%m-%dT%H:%M:%fZ', j.next_time / 1e6, 'unixepoch') AS next_due_time,
       (SELECT strftime('%Y-%m-%dT%H:%M:%fZ', coalesce(i.start_time, i.created_at) / 1e6, 'unixepoch') FROM pawl.job_run_item i WHERE i.id = j.last_run) AS last_run_time,
       (SELECT CASE i.status WHEN 0 THEN 'Pending' WHEN 1 THEN 'Running' WHEN 2 THEN 'Succeeded' WHEN 3 THEN 'Failed' WHEN 4 THEN 'Cancelled' END
          FROM pawl.job_run_item i WHERE i.id = j.last_run) AS last_run_status,
       j.zone, l.queue, l.priority, j.last_error
  FROM pawl.job j LEFT JOIN pawl.outbox_lane l ON l.id = j.lane;
