SELECT pawl.columns(j), coalesce(l.queue, '') AS queue, coalesce(l.priority, 0) AS priority, pawl.finite(j.next_time) AS next_time, @now AS now,
       pawl.last_run(j, i.run_id) AS last_run_id, pawl.last_run(j, coalesce(i.start_time, i.created_at)) AS last_run_time, pawl.last_run(j, i.status) AS last_run_status
  FROM pawl.job j LEFT JOIN pawl.outbox_lane l ON l.id = j.lane WHERE j.name > @after ORDER BY j.name pawl.limit(@most)
