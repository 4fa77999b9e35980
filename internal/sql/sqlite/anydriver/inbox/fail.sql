-- ignores @hash: of the delivery
UPDATE pawl.inbox SET attempts = attempts + (@token IS NULL), last_error = @error, token = NULL, locked_until_utc = NULL,
  status = CASE WHEN @final OR @max_attempts > 0 AND attempts + (@token IS NULL) >= @max_attempts THEN 'Dead' ELSE 'Seen' END
 WHERE source = @source AND message_id = @message_id AND status IN ('Seen', 'Processing') AND (@token IS NULL OR token = @token)
