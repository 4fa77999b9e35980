SELECT queue FROM pawl.outbox_lane WHERE id = @id
