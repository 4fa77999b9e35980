SELECT pawl.columns(m), @retry AS retry_count, l.queue AS queue, l.priority AS priority, @until AS locked_until
  FROM pawl.outbox_message m JOIN pawl.outbox_lane l ON l.id = m.lane WHERE m.id = @id
