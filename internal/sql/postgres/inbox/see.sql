SELECT 1 FROM generate_series(1, pawl.inbox_see(@source, @message_id, @hash))
