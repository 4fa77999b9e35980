SELECT coalesce((SELECT s.last_value * 4096 + 4095 FROM pawl.outbox_block s WHERE s.is_called), 0) AS low,
       coalesce((SELECT s.last_value FROM pawl.outbox_single s WHERE s.is_called), 0) AS high
