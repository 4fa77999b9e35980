SELECT 1 FROM generate_series(1, pawl.inbox_take_done(@source, @message_id, @hash))
