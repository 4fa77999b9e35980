SELECT 1 FROM generate_series(1, pawl.inbox_fail_row(@source, @message_id, @hash, @token, @error, @final, @max_attempts))
