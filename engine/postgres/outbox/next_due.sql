-- Microseconds until the next run of a queue is due that is no suspect, or
-- null, as of a paused queue. $1 queue.
SELECT (extract(epoch FROM min((SELECT r.at FROM pawl.outbox_ready r WHERE r.lane = l.id AND r.suspect = 0 ORDER BY r.at LIMIT 1)) - clock_timestamp()) * 1000000.0)::int8
  FROM pawl.outbox_lane l WHERE l.queue = $1 AND NOT EXISTS (SELECT FROM pawl.outbox_pause p WHERE p.kind = 'queue' AND p.name = $1)
