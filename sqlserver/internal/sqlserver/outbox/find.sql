SELECT pawl.columns(i), u."key" AS unique_key, u.until AS unique_until FROM pawl.outbox_item i LEFT JOIN pawl.outbox_unique u ON u.id = i.id
 WHERE i.id = (SELECT m.id FROM pawl.outbox_message m WHERE m.message_id = @message_id AND m.supplied = 1)
