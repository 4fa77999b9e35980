-- The message at ?2, held with ?3 retries until ?4. ?1 now. Columns as in outbox/claim.
SELECT m.id, m.message_id, m.topic, m.correlation_id, m.headers, m.payload, m.created_at, m.due_at, ?3, l.queue, l.priority, ?4
  FROM pawl.outbox_message m JOIN pawl.outbox_lane l ON l.id = m.lane WHERE m.id = ?2
