-- The messages of a claimed run. ?1 now, ?2 lo, ?3 end, ?4 retry, ?5 queue, ?6 priority, ?7 locked until.
SELECT id, message_id, topic, correlation_id, headers, payload, created_at, due_at, ?4, ?5, ?6, ?7
  FROM pawl.outbox_message WHERE id >= ?2 AND id < ?3 ORDER BY id
