-- Attach message ?3 to join ?2, unless it is attached already or unknown.
-- ?1 now, ?4 the position that the id carries.
INSERT INTO pawl.outbox_join_member (join_id, outbox_message_id, id, created_utc)
SELECT ?2, m.message_id, m.id, ?1 FROM pawl.outbox_message m
 WHERE m.id = coalesce((SELECT id FROM pawl.outbox_message WHERE id = ?4 AND message_id = ?3),
                       (SELECT id FROM pawl.outbox_message WHERE message_id = ?3 AND supplied = 1))
ON CONFLICT DO NOTHING
