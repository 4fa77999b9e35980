-- The job of name ?2, the database's clock, ?1, and its last run: id, time, status.
SELECT j.id, j.name, j.topic, j.payload, j.headers, coalesce(l.queue, ''), coalesce(l.priority, 0), j.schedule, j.zone, j.misfire, j.misfire_limit, j.overlap, j.spread, j.shift, j.enabled, j.next_time, j.version, j.last_error, j.created_at, j.updated_at, ?1,
       (SELECT i.run_id FROM pawl.job_run_item i WHERE i.id = j.last_run), (SELECT coalesce(i.start_time, i.created_at) FROM pawl.job_run_item i WHERE i.id = j.last_run), (SELECT i.status FROM pawl.job_run_item i WHERE i.id = j.last_run)
  FROM pawl.job j LEFT JOIN pawl.outbox_lane l ON l.id = j.lane WHERE j.name = ?2
