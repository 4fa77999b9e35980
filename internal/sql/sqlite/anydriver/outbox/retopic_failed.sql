UPDATE pawl.outbox_message SET topic = @topic, lane = coalesce(@lane, lane)
 WHERE id = @id AND EXISTS (SELECT 1 FROM pawl.outbox_exception e WHERE e.id = @id AND e.status = 3)
