SELECT 1 FROM generate_series(1, pawl.outbox_join_report_step(@join_id, @message_id, @status))
