SELECT o.id, o.lane, o."key", o.head,
       pawl.truth(NOT EXISTS (SELECT 1 FROM pawl.outbox_order h WHERE h.lane = o.lane AND h."key" = o."key" AND pawl.is(h.head))) AS headless,
       pawl.line_place(o.id) AS place, (SELECT m.message_id FROM pawl.outbox_message m WHERE m.id = o.id) AS message_id,
       (SELECT x.updated_at FROM pawl.outbox_exception x WHERE x.id = o.id) AS updated_at
  FROM pawl.outbox_order o WHERE o.id > @after ORDER BY o.id pawl.limit(@most)
