INSERT INTO pawl.outbox_limit (kind, name, concurrency, rate, period, burst, at, actor, reason, pattern)
SELECT 'topic', @topic, concurrency, rate, period, burst, at, actor, reason, name
  FROM pawl.outbox_limit WHERE kind = 'each' AND pawl.falls_under(name, @topic) ORDER BY length(name) DESC LIMIT 1
