SELECT id, priority, kind, topic, EXISTS (SELECT 1 FROM pawl.outbox_limit) AS limited,
       CASE WHEN kind = 3 THEN (SELECT r.at FROM pawl.outbox_ready r WHERE r.lane = l.id AND r.at <= @now AND r.suspect = 0 ORDER BY r.at LIMIT 1) END AS head
  FROM pawl.outbox_lane l WHERE queue = @queue AND (kind < 2 OR kind = 3 AND EXISTS (SELECT 1 FROM pawl.outbox_ready r WHERE r.lane = l.id) AND NOT pawl.full_limit('topic', topic)) AND NOT pawl.paused(@queue)
 ORDER BY kind, priority, id
