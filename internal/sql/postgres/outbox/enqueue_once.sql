SELECT 1 FROM generate_series(1, pawl.outbox_enqueue_once(@messages.id, @messages.message_id, @messages.topic, @messages.correlation_id, @messages.headers, @messages.payload,
  @messages.lane, @messages.due_at, @queues, @messages.supplied, @messages.carried))
