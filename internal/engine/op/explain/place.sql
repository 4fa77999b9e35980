SELECT coalesce(pawl.planned(r.at), CASE WHEN r.lo IS NOT NULL THEN m.created_at END) AS at,
       pawl.sure(r.lane <> m.lane AND NOT EXISTS (SELECT 1 FROM pawl.outbox_lane l WHERE l.id = r.lane)) AS aside,
       e.next_attempt_at, e.updated_at, w.join_id, coalesce(r.suspect, 0) AS suspect,
       (SELECT h.message_id FROM pawl.outbox_order o JOIN pawl.outbox_order b ON b.lane = o.lane AND b."key" = o."key" AND b.id <> o.id
          JOIN pawl.outbox_message h ON h.id = b.id WHERE o.id = m.id AND pawl.is(b.head)) AS behind
  FROM pawl.outbox_message m
  LEFT JOIN pawl.outbox_ready r ON pawl.covers(pawl.outbox_ready, r, m.id)
  LEFT JOIN pawl.outbox_exception e ON e.id = m.id
  LEFT JOIN pawl.wait_table() w ON w.id = m.id
 WHERE m.id = @id
