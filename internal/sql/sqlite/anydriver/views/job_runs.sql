CREATE VIEW pawl.job_runs AS
SELECT lower(substr(hex(i.run_id), 1, 8) || '-' || substr(hex(i.run_id), 9, 4) || '-' || substr(hex(i.run_id), 13, 4)
         || '-' || substr(hex(i.run_id), 17, 4) || '-' || substr(hex(i.run_id), 21)) AS id,
       lower(substr(hex(i.job_id), 1, 8) || '-' || substr(hex(i.job_id), 9, 4) || '-' || substr(hex(i.job_id), 13, 4)
         || '-' || substr(hex(i.job_id), 17, 4) || '-' || substr(hex(i.job_id), 21)) AS job_id,
       strftime('%Y-%m-%dT%H:%M:%fZ', i.scheduled_time / 1e6, 'unixepoch') AS scheduled_time,
       CASE i.status WHEN 0 THEN 'Pending' WHEN 1 THEN 'Running' WHEN 2 THEN 'Succeeded' WHEN 3 THEN 'Failed' WHEN 4 THEN 'Cancelled'
                     WHEN 5 THEN 'Skipped' WHEN 6 THEN 'Missed' END AS status,
       i.claimed_by, strftime('%Y-%m-%dT%H:%M:%fZ', i.start_time / 1e6, 'unixepoch') AS claimed_at, i.retry_count,
       strftime('%Y-%m-%dT%H:%M:%fZ', i.start_time / 1e6, 'unixepoch') AS start_time,
       strftime('%Y-%m-%dT%H:%M:%fZ', i.end_time / 1e6, 'unixepoch') AS end_time,
       NULL AS output, i.last_error, i.job_name, i.triggered, i.missed
  FROM pawl.job_run_item i;
