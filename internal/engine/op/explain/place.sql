SELECT r.at, pawl.sure(r.lane <> m.lane) AS aside, e.next_attempt_at, e.updated_at, w.join_id, coalesce(r.suspect, 0) AS suspect
  FROM pawl.outbox_message m
  LEFT JOIN pawl.outbox_ready r ON pawl.covers(pawl.outbox_ready, r, m.id)
  LEFT JOIN pawl.outbox_exception e ON e.id = m.id
  LEFT JOIN pawl.wait_table() w ON w.id = m.id
 WHERE m.id = @id
