DELETE FROM pawl.outbox_message WHERE id = @id
