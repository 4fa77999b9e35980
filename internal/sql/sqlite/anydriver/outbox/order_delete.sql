DELETE FROM pawl.outbox_order WHERE id = @id
