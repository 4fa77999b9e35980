SELECT pawl.columns(i) FROM pawl.outbox_item i WHERE i.id = (SELECT m.id FROM pawl.outbox_message m WHERE m.message_id = @message_id AND m.supplied = 1)
