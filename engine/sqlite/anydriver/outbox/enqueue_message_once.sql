-- One message, unless its id is known: a supplied one in the index, one that
-- pawl made (?11: the position it carries, or null) where it says it lies.
-- Parameters as in enqueue_message.
INSERT INTO pawl.outbox_message (id, message_id, supplied, lane, topic, correlation_id, headers, payload, created_at, due_at)
SELECT ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?1, ?10
 WHERE NOT EXISTS (SELECT 1 FROM pawl.outbox_message WHERE id = ?11 AND message_id = ?3)
ON CONFLICT (message_id) WHERE supplied = 1 DO NOTHING
