SELECT id AS floor FROM pawl.outbox_message WHERE id < @before ORDER BY id DESC LIMIT 1 OFFSET @look - 1
