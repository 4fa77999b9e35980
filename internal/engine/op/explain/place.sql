SELECT coalesce(pawl.planned(run.at), CASE WHEN run.lo IS NOT NULL THEN m.created_at END) AS at,
       pawl.sure(run.lane <> m.lane AND NOT EXISTS (SELECT 1 FROM pawl.outbox_lane l WHERE l.id = run.lane)) AS aside,
       e.next_attempt_at, e.updated_at, w.join_id, s.name AS awaits, coalesce(run.suspect, 0) AS suspect,
       (SELECT h.message_id FROM pawl.outbox_order o JOIN pawl.outbox_order b ON b.lane = o.lane AND b."key" = o."key" AND b.id <> o.id
          JOIN pawl.outbox_message h ON h.id = b.id WHERE o.id = m.id AND pawl.is(b.head)) AS behind
  FROM pawl.outbox_message m
  LEFT JOIN pawl.run_of(pawl.outbox_ready, @id) run ON run.lo + run.n > m.id
  pawl.join_row(pawl.outbox_exception, e, e.id = m.id)
  pawl.join_row(pawl.wait_table(), w, w.id = m.id)
  pawl.join_row(pawl.flow_wait, s, s.id = m.id)
 WHERE m.id = @id
