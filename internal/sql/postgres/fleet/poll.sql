SELECT pawl.micros(least(
    (SELECT min((SELECT min(r.at) FROM pawl.outbox_ready r WHERE r.lane = l.id)) FROM pawl.outbox_lane l WHERE l.queue = ANY (@queues) AND l.kind <> 2 AND NOT pawl.paused(l.queue)),
    (SELECT min(c.locked_until) FROM pawl.outbox_claim c),
    (SELECT min(t.at) FROM pawl.timer t WHERE t.status = 0),
    (SELECT min(t.locked_until) FROM pawl.timer t WHERE t.status = 1),
    (SELECT min(j.due_at) FROM pawl.job j WHERE j.due_at IS NOT NULL AND j.enabled),
    (SELECT min(b.at) FROM pawl.outbox_bulk b WHERE b.ended_at IS NULL))
  - @now) AS micros, (SELECT m.phase FROM pawl.move m) AS phase
