SELECT 1 FROM generate_series(1, pawl.inbox_take(@source, @message_id, @hash, @token, @lease, @max_attempts, @resumes))
