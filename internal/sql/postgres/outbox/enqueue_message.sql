-- ignores @supplied, @carried: of messages with ids of the caller's
WITH m AS (
  INSERT INTO pawl.outbox_message (id, message_id, topic, correlation_id, headers, payload, lane, due_at)
  VALUES (@id, @message_id, @topic, @correlation_id, @headers, @payload, @lane, @due_at))
INSERT INTO pawl.outbox_ready (lane, at, lo, n)
SELECT @lane, coalesce(@due_at, @now), @id, 1 WHERE pawl.wake(@queue)
