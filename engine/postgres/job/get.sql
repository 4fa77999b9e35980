-- The job of name $1, the database's clock, and its last run: id, time, status.
SELECT j.id, j.name, j.topic, j.payload, j.headers, coalesce(l.queue, ''), coalesce(l.priority, 0), j.schedule, j.zone, j.misfire, j.misfire_limit, j.overlap, j.spread, j.shift, j.enabled, CASE WHEN isfinite(j.next_time) THEN j.next_time END, j.version, j.last_error, j.created_at, j.updated_at, clock_timestamp(),
       (SELECT i.run_id FROM pawl.job_run_item i WHERE i.id = j.last_run), (SELECT coalesce(i.start_time, i.created_at) FROM pawl.job_run_item i WHERE i.id = j.last_run), (SELECT i.status::int8 FROM pawl.job_run_item i WHERE i.id = j.last_run)
  FROM pawl.job j LEFT JOIN pawl.outbox_lane l ON l.id = j.lane WHERE j.name = $1
