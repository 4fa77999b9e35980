INSERT INTO pawl.timer (id, timer_id, supplied, lane, topic, correlation_id, headers, payload, due_time, at, key, created_at)
VALUES (@id, @message_id, @supplied, @lane, @topic, @correlation_id, @headers, @payload, coalesce(@due_at, @now), coalesce(@due_at, @now), @key, @now)
