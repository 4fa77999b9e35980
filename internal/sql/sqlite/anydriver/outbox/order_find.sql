SELECT id, lane, "key", head FROM pawl.outbox_order WHERE id >= @lo AND id < @end
