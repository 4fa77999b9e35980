UPDATE pawl.outbox_join_member SET status = @status
 WHERE join_id = @join_id AND outbox_message_id IN (
   SELECT m.outbox_message_id FROM pawl.outbox_join_member m INDEXED BY pawl.outbox_join_member_place
    WHERE m.status = 0 AND m.id >= @lo AND m.id < @end AND m.join_id = @join_id ORDER BY m.id
    LIMIT (SELECT expected_steps - completed_steps - failed_steps FROM pawl.outbox_join WHERE join_id = @join_id))
