SELECT lane FROM pawl.outbox_message WHERE id = @id
