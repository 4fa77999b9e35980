-- What is claimed already counts from now on.
WITH put AS (
  INSERT INTO pawl.outbox_limit AS l (kind, name, concurrency, rate, period, burst, actor, reason)
  VALUES (@kind, @name, @concurrency, @rate, @period, @burst, @note_actor, @reason)
  ON CONFLICT (kind, name) DO UPDATE SET concurrency = excluded.concurrency, rate = excluded.rate, period = excluded.period, burst = excluded.burst,
    at = excluded.at, actor = excluded.actor, reason = excluded.reason, next_at = '-infinity'
  WHERE (l.concurrency, l.rate, l.period, l.burst) IS DISTINCT FROM (excluded.concurrency, excluded.rate, excluded.period, excluded.burst) RETURNING 1),
held AS (
  INSERT INTO pawl.outbox_limit_claim (kind, name, id)
  SELECT @kind, @name, m.id FROM pawl.outbox_claim c JOIN pawl.outbox_lane q ON q.id = c.lane JOIN pawl.outbox_message m ON m.id >= c.lo AND m.id < c.lo + c.n
   WHERE @concurrency IS NOT NULL AND CASE @kind WHEN 'topic' THEN m.topic = @name ELSE q.queue = @name END
  ON CONFLICT DO NOTHING),
woken AS (
  SELECT count(*) AS n FROM pawl.queues_under(@kind, @name) q WHERE pawl.wake(q.queue))
SELECT pawl.audit_note(@note_id, @note_actor, 'limit', @note_target, @note_reason, (SELECT count(*) FROM put)) FROM woken
