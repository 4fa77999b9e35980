SELECT pawl.columns(j), m.topic AS topic, r.result AS result
  FROM pawl.outbox_join_member j pawl.join_row(pawl.outbox_message, m, m.id = j.id) pawl.join_row(pawl.outbox_join_result, r, r.join_id = j.join_id AND r.id = j.id)
 WHERE j.join_id = @join_id AND pawl.rank(j.outbox_message_id) > pawl.rank(@after) AND (@status IS NULL OR j.status = @status) ORDER BY pawl.rank(j.outbox_message_id) pawl.limit(@most)
