INSERT INTO pawl.outbox_join_member (join_id, outbox_message_id, id, created_utc)
SELECT @join_id, m.message_id, m.id, @now FROM pawl.outbox_message m
 WHERE m.id = coalesce((SELECT id FROM pawl.outbox_message WHERE id = @id AND message_id = @message_id),
                       (SELECT id FROM pawl.outbox_message WHERE message_id = @message_id AND supplied = 1))
ON CONFLICT DO NOTHING
