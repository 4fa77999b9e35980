SELECT id AS floor FROM pawl.outbox_message WHERE id < @before ORDER BY id DESC pawl.skip(@look - 1)
