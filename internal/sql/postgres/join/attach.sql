SELECT 1 FROM generate_series(1, pawl.outbox_join_attach_all(@join_id, @message_ids))
