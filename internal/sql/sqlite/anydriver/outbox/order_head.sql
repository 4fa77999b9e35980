SELECT id FROM pawl.outbox_order WHERE lane = @lane AND "key" = @key AND head
