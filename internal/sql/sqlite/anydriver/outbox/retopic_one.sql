UPDATE pawl.outbox_message SET topic = @topic, lane = coalesce(@lane, lane) WHERE id = @id
