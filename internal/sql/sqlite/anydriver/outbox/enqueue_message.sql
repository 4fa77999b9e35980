INSERT INTO pawl.outbox_message (id, message_id, supplied, lane, topic, correlation_id, headers, payload, created_at, due_at)
VALUES (@id, @message_id, @supplied, @lane, @topic, @correlation_id, @headers, @payload, @now, @due_at)
