CREATE OR REPLACE VIEW pawl.job_runs AS
SELECT i.run_id AS id, i.job_id, i.scheduled_time, (ARRAY['Pending', 'Running', 'Succeeded', 'Failed', 'Cancelled', 'Skipped', 'Missed'])[1 + i.status] AS status,
       i.claimed_by, i.start_time AS claimed_at, i.retry_count, i.start_time, i.end_time, NULL::text AS output, i.last_error, i.job_name, i.triggered, i.missed
  FROM pawl.job_run_item i;
