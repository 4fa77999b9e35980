SELECT 1 FROM generate_series(1, pawl.outbox_join_end(@join_id, @status))
