-- An id of the caller's may be elsewhere: it was known, or its position was taken.
INSERT INTO pawl.outbox_join_wait (id, join_id)
SELECT m.id, @join_id FROM pawl.outbox_message m WHERE m.id = @id AND m.message_id = @message_id
UNION ALL
SELECT m.id, @join_id FROM pawl.outbox_message m WHERE m.message_id = @message_id AND m.supplied = 1 AND m.id <> @id
ON CONFLICT DO NOTHING
