SELECT pawl.columns(j), m.topic AS topic, r.result AS result
  FROM pawl.outbox_join_member j LEFT JOIN pawl.outbox_message m ON m.id = j.id LEFT JOIN pawl.outbox_join_result r ON r.join_id = j.join_id AND r.id = j.id
 WHERE j.join_id = @join_id AND pawl.rank(j.outbox_message_id) > pawl.rank(@after) AND (@status IS NULL OR j.status = @status) ORDER BY pawl.rank(j.outbox_message_id) pawl.limit(@most)
