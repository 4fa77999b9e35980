UPDATE pawl.inbox SET status = 'Seen', attempts = attempts - 1, token = NULL, locked_until_utc = NULL
 WHERE source = @source AND message_id = @message_id AND token = @token AND status = 'Processing'
