DELETE FROM pawl.outbox_join_member WHERE join_id = @join_id AND outbox_message_id = @message_id
