WITH run AS MATERIALIZED (
  SELECT * FROM (SELECT r.lo, r.n FROM pawl.outbox_ready r ORDER BY r.lo DESC LIMIT @runs)
  UNION ALL SELECT * FROM (SELECT c.lo, c.n FROM pawl.outbox_claim c ORDER BY c.lo DESC LIMIT @runs)),
message AS MATERIALIZED (
  SELECT m.lane, m.topic, m.created_at, pawl.minute(m.created_at) AS minute FROM (SELECT lo, n FROM run ORDER BY lo DESC) r CROSS JOIN pawl.outbox_message m
   WHERE m.id >= r.lo AND m.id < r.lo + r.n LIMIT @messages)
SELECT l.queue, m.topic, m.minute, count(*) AS n, @now - min(m.created_at) AS micros, (SELECT count(*) >= @runs FROM run) OR (SELECT count(*) >= @messages FROM message) AS more
  FROM message m CROSS JOIN pawl.outbox_lane l ON l.id = m.lane
 WHERE m.minute >= @from AND (@queue IS NULL OR l.queue = @queue) AND (@topic IS NULL OR m.topic = @topic)
 GROUP BY l.queue, m.topic, m.minute
