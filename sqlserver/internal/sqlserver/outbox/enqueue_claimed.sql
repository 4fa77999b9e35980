-- ignores @supplied, @carried, @due_at: of messages with ids of the caller's, or due later
EXEC pawl.outbox_enqueue_claimed @id, @message_id, @topic, @correlation_id, @headers, @payload, @lane, @queue, @owner, @lease
