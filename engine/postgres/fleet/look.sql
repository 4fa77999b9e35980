-- Microseconds until anything in this database wants a worker, or null: messages
-- of the queues $1 that are not paused, leases that run out, timers, jobs.
SELECT (extract(epoch FROM least(
    (SELECT min((SELECT min(r.at) FROM pawl.outbox_ready r WHERE r.lane = l.id)) FROM pawl.outbox_lane l
      WHERE l.queue = ANY ($1::text[]) AND NOT EXISTS (SELECT FROM pawl.outbox_pause p WHERE p.kind = 'queue' AND p.name = l.queue)),
    (SELECT min(c.locked_until) FROM pawl.outbox_claim c),
    (SELECT min(t.at) FROM pawl.timer t WHERE t.status = 0),
    (SELECT min(t.locked_until) FROM pawl.timer t WHERE t.status = 1),
    (SELECT min(j.due_at) FROM pawl.job j WHERE j.due_at IS NOT NULL AND j.enabled))
  - clock_timestamp()) * 1000000.0)::int8
