UPDATE pawl.outbox_join_member SET status = @status
 WHERE join_id = @join_id AND outbox_message_id = @message_id AND status = 0 AND EXISTS (SELECT 1 FROM pawl.outbox_join WHERE join_id = @join_id AND status = 0)
