-- ignores @supplied, @carried, @due_at: of messages with ids of the caller's, or due later
WITH m AS (
  INSERT INTO pawl.outbox_message (id, message_id, topic, correlation_id, headers, payload, lane)
  VALUES (@id, @message_id, @topic, @correlation_id, @headers, @payload, @lane) RETURNING created_at),
p AS MATERIALIZED (SELECT pawl.paused(@queue) OR pawl.under_limit(@queue, @topic) AS paused),
r AS (
  INSERT INTO pawl.outbox_ready (lane, at, lo, n) SELECT @lane, m.created_at, @id, 1 FROM m, p WHERE p.paused),
c AS (
  INSERT INTO pawl.outbox_claim (lo, n, lane, at, retry, owner, locked_until)
  SELECT @id, 1, @lane, m.created_at, 0, @owner, m.created_at + @lease FROM m, p WHERE NOT p.paused)
SELECT m.created_at AS created_at FROM m, p WHERE NOT p.paused
