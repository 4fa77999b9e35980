INSERT INTO pawl.outbox_join_member (join_id, outbox_message_id, id, created_utc) VALUES (@join_id, @message_id, @id, @now)
