UPDATE pawl.inbox
   SET status = 'Done', processed_utc = @now, attempts = attempts + CASE WHEN @token IS NULL THEN 1 ELSE 0 END, token = NULL, locked_until_utc = NULL
 WHERE source = @source AND message_id = @message_id AND status IN ('Seen', 'Processing') AND (@token IS NULL OR token = @token)
