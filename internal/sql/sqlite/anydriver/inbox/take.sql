-- ignores @hash: of the delivery
UPDATE pawl.inbox SET attempts = attempts + NOT (@resumes AND status = 'Processing'), token = @token, locked_until_utc = @now + @lease, status = 'Processing'
 WHERE source = @source AND message_id = @message_id AND (@max_attempts = 0 OR attempts - (@resumes AND status = 'Processing') < @max_attempts)
