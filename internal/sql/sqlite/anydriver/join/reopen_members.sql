UPDATE pawl.outbox_join_member SET status = 0
 WHERE status = 2 AND id = @id AND join_id IN (SELECT join_id FROM pawl.outbox_join WHERE status = 0)
