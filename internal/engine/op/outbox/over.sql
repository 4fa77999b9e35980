SELECT m.id AS id, pawl.truth(pawl.holds(pawl.outbox_done, m.id)) AS done, coalesce(e.status, 0) AS status, e.last_error AS last_error, r.result AS result
  FROM pawl.outbox_message m pawl.join_row(pawl.outbox_exception, e, e.id = m.id) pawl.join_row(pawl.outbox_result, r, r.id = m.id)
 WHERE m.id = pawl.message_at(@id, @message_id)
