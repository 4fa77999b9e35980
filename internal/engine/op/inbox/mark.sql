UPDATE pawl.inbox
   SET status = @status, attempts = attempts + CASE WHEN @status = 'Processing' THEN 1 ELSE 0 END, token = NULL, locked_until_utc = NULL,
       processed_utc = CASE WHEN @status = 'Done' THEN @now END, last_seen_utc = @now
 WHERE source = @source AND message_id = @message_id AND status IN ('Seen', 'Processing')
