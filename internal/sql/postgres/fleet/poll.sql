-- Ids of messages that are enqueued through SQL are above 2^47: the newest done one may be on either side.
SELECT pawl.micros(least(
    (SELECT min((SELECT min(r.at) FROM pawl.outbox_ready r WHERE r.lane = l.id)) FROM pawl.outbox_lane l WHERE l.queue = ANY (@queues) AND l.kind <> 2 AND NOT pawl.paused(l.queue)),
    c.at,
    pawl.next_timer(), pawl.next_job(),
    (SELECT min(b.at) FROM pawl.outbox_bulk b WHERE b.ended_at IS NULL))
  - @now) AS micros, (SELECT m.phase FROM pawl.move m) AS phase,
  pawl.micros(@now - greatest(CASE WHEN c.at > @now THEN @now END,
    (SELECT d.processed_at FROM pawl.outbox_done d WHERE d.lo < 140737488355328 ORDER BY d.lo DESC LIMIT 1),
    (SELECT d.processed_at FROM pawl.outbox_done d WHERE d.lo >= 140737488355328 ORDER BY d.lo DESC LIMIT 1))) AS idle
  FROM (SELECT min(x.locked_until) AS at FROM pawl.outbox_claim x) c
