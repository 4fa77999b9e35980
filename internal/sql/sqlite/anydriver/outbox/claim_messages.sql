SELECT pawl.columns(m), @retry AS retry_count, @queue AS queue, @priority AS priority, @locked_until AS locked_until
  FROM pawl.outbox_message m WHERE m.id >= @lo AND m.id < @end ORDER BY m.id
