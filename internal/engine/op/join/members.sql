SELECT pawl.columns(j), m.topic AS topic
  FROM pawl.outbox_join_member j LEFT JOIN pawl.outbox_message m ON m.id = j.id
 WHERE j.join_id = @join_id AND j.outbox_message_id > @after AND (@status IS NULL OR j.status = @status) ORDER BY j.outbox_message_id LIMIT @most
