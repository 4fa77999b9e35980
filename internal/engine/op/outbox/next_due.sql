SELECT pawl.micros(min((SELECT r.at FROM pawl.outbox_ready r WHERE r.lane = l.id AND r.suspect = 0 ORDER BY r.at pawl.limit(1))) - @now) AS micros
  FROM pawl.outbox_lane l WHERE l.queue = @queue AND l.kind < 2 AND NOT pawl.paused(@queue)
