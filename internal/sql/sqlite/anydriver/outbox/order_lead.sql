UPDATE pawl.outbox_order SET head = 1 WHERE id = @id
