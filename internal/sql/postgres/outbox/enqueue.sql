WITH m AS (
  INSERT INTO pawl.outbox_message (id, message_id, topic, correlation_id, headers, payload, lane, due_at)
  SELECT * FROM unnest(@messages.id, @messages.message_id, @messages.topic, @messages.correlation_id, @messages.headers, @messages.payload, @messages.lane, @messages.due_at))
INSERT INTO pawl.outbox_ready (lane, at, lo, n)
SELECT r.lane, coalesce(r.at, clock_timestamp()), r.lo, r.n
  FROM pawl.outbox_wake(@queues) w, unnest(@runs.lane, @runs.at, @runs.lo, @runs.n) r(lane, at, lo, n)
