DELETE FROM pawl.outbox_unique WHERE id = @id
