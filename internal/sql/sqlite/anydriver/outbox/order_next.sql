SELECT id FROM pawl.outbox_order WHERE lane = @lane AND "key" = @key ORDER BY id LIMIT 1
