SELECT m.id AS id, pawl.truth(pawl.holds(pawl.outbox_done, m.id)) AS done, coalesce(e.status, 0) AS status, e.last_error AS last_error, r.result AS result
  FROM pawl.outbox_message m pawl.join_row(pawl.outbox_exception, e, e.id = m.id) pawl.join_row(pawl.outbox_result, r, r.id = m.id)
 WHERE m.id = coalesce((SELECT x.id FROM pawl.outbox_message x WHERE x.id = @id AND x.message_id = @message_id), (SELECT x.id FROM pawl.outbox_message x WHERE x.message_id = @message_id AND pawl.supplied(x)))
