-- Sorted by an expression: to be read in the order of positions, all rows would be.
SELECT w.id AS id, pawl.message_place(x, w.id) AS place, x.topic AS topic, l.queue AS queue, x.correlation_id AS correlation_id, x.payload AS payload
  FROM pawl.wait_table() w pawl.join_row(pawl.outbox_message, x, x.id = w.id) LEFT JOIN pawl.outbox_lane l ON l.id = x.lane
 WHERE w.join_id = @join_id AND NOT pawl.is(w.replaced) ORDER BY w.id + 0
