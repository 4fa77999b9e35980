SELECT pawl.columns(i) FROM pawl.inbox i WHERE i.source = @source AND i.message_id = @message_id
