-- ignores @payload, @carried: @body is the payload, and where an id says that it lies is nothing that a timer has
INSERT INTO pawl.timer (id, timer_id, supplied, lane, topic, correlation_id, headers, payload, due_time, at, key, created_at)
VALUES (@id, @timer_id, @supplied, @lane, @topic, @correlation_id, @headers, @body, coalesce(@due, @now), coalesce(@due, @now), @key, @now)
