DELETE FROM pawl.outbox_order WHERE id >= @lo AND id < @end RETURNING id, lane, key, head
