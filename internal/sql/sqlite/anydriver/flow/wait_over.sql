DELETE FROM pawl.flow_wait WHERE id = pawl.message_at(@id, @message_id)
