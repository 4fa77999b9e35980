UPDATE pawl.outbox_join_member SET status = @status
 WHERE join_id = @join_id AND status = 2 - @status AND outbox_message_id IN (
   SELECT m.outbox_message_id FROM pawl.outbox_join_member m WHERE m.join_id = @join_id AND m.id IN (SELECT value FROM json_each(@ids)))
