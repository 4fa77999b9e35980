UPDATE pawl.inbox SET status = 'Seen', attempts = 0 WHERE source = @source AND message_id = @message_id AND status = 'Dead'
