SELECT id, topic FROM pawl.outbox_message WHERE id >= @lo AND id < @end ORDER BY id
