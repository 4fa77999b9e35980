SELECT l.queue, m.topic, count(*) AS n
  FROM (SELECT id FROM pawl.outbox_exception INDEXED BY pawl.outbox_exception_dead WHERE status >= 3 AND status = 3 ORDER BY id LIMIT @messages) f
  CROSS JOIN pawl.outbox_message m ON m.id = f.id
  CROSS JOIN pawl.outbox_lane l ON l.id = m.lane
 GROUP BY l.queue, m.topic
