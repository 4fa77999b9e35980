UPDATE pawl.outbox_join_member AS m SET status = @status
 WHERE join_id = @join_id AND outbox_message_id = @message_id AND status = 0 AND EXISTS (SELECT 1 FROM pawl.outbox_join WHERE join_id = @join_id AND status = 0)
   AND CASE @status WHEN 1 THEN pawl.holds(pawl.outbox_done, m.id)
                         ELSE EXISTS (SELECT 1 FROM pawl.outbox_exception e WHERE e.id = m.id AND e.status >= 3) END
