-- ignores @payload: @body has it, as text if it is text
INSERT INTO pawl.job AS j (id, name, topic, payload, headers, lane, schedule, zone, misfire, misfire_limit, overlap, spread, shift, next_time, due_at, created_at, updated_at)
VALUES (@id, @name, @topic, @body, @headers, @lane, @schedule, @zone, @misfire, @misfire_limit, @overlap, @spread, @shift, @next_time, @due_at, @now, @now)
ON CONFLICT (name) DO UPDATE SET
  topic = excluded.topic, payload = excluded.payload, headers = excluded.headers, lane = excluded.lane, schedule = excluded.schedule, zone = excluded.zone,
  misfire = excluded.misfire, misfire_limit = excluded.misfire_limit, overlap = excluded.overlap, spread = excluded.spread, shift = excluded.shift,
  next_time = CASE WHEN NOT j.enabled THEN NULL WHEN (j.schedule, j.zone) = (excluded.schedule, excluded.zone) AND j.next_time IS NOT NULL THEN j.next_time ELSE excluded.next_time END,
  due_at = CASE WHEN NOT j.enabled THEN NULL WHEN (j.schedule, j.zone) <> (excluded.schedule, excluded.zone) OR j.next_time IS NULL THEN excluded.due_at
                WHEN j.shift <> excluded.shift THEN j.next_time + excluded.shift ELSE j.due_at END,
  last_error = CASE WHEN (j.schedule, j.zone) = (excluded.schedule, excluded.zone) THEN j.last_error END,
  version = j.version + 1, updated_at = @now
WHERE (j.topic, j.payload, j.headers, j.lane, j.schedule, j.zone, j.misfire, j.misfire_limit, j.overlap, j.spread, j.shift)
      IS NOT (excluded.topic, excluded.payload, excluded.headers, excluded.lane, excluded.schedule, excluded.zone, excluded.misfire, excluded.misfire_limit, excluded.overlap, excluded.spread, excluded.shift)
   OR j.enabled AND j.next_time IS NULL
