-- Sorted by an expression: to be read in the order of positions, all rows would be.
SELECT m.id AS id, m.outbox_message_id AS outbox_message_id, m.status AS status, pawl.message_place(x, m.id) AS place,
       coalesce((SELECT e.redrives FROM pawl.outbox_exception e WHERE e.id = m.id), 0) AS redrives
  FROM pawl.outbox_join_member m pawl.join_row(pawl.outbox_message, x, x.id = m.id)
 WHERE m.join_id = @join_id AND m.status <> 1 ORDER BY m.id + 0
