SELECT k.o_id AS id, k.o_mid AS message_id
  FROM pawl.outbox_enqueue_keyed(@messages.id, @messages.message_id, @messages.topic, @messages.correlation_id, @messages.headers, @messages.payload, @messages.lane, @messages.due_at,
    @queues, @messages.supplied, @messages.carried, @keys.key, @keys.unbegun, @keys.period, @keys.replace, @keys.debounce) k
