DELETE FROM pawl.outbox_join_result WHERE id = @id AND join_id IN (SELECT m.join_id FROM pawl.outbox_join_member m WHERE m.id = @id)
