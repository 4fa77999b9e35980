SELECT pawl.columns(i), u."key" AS unique_key, u.until AS unique_until FROM pawl.outbox_item i pawl.join_row(pawl.outbox_unique, u, u.id = i.id)
 WHERE i.id = @id
