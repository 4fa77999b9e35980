-- Microseconds until the next run of a queue is due, or null. $1 queue.
SELECT (extract(epoch FROM min((SELECT min(r.at) FROM pawl.outbox_ready r WHERE r.lane = l.id)) - clock_timestamp()) * 1000000)::int8
  FROM pawl.outbox_lane l WHERE l.queue = $1
