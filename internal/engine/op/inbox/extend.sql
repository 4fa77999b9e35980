UPDATE pawl.inbox SET locked_until_utc = pawl.plus(@now, @lease) WHERE source = @source AND message_id = @message_id AND token = @token AND status = 'Processing'
