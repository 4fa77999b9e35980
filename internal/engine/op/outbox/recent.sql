pawl.recent(pawl.outbox_message, id, 1, created_at)
