UPDATE pawl.inbox SET status = 'Dead', token = NULL, locked_until_utc = NULL WHERE source = @source AND message_id = @message_id
