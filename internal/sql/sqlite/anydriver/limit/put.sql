-- ignores @note_id, @note_target, @note_reason: the audit trail is Go's
INSERT INTO pawl.outbox_limit (kind, name, concurrency, rate, period, burst, at, actor, reason) VALUES (@kind, @name, @concurrency, @rate, @period, @burst, @now, @note_actor, @reason)
ON CONFLICT (kind, name) DO UPDATE SET concurrency = excluded.concurrency, rate = excluded.rate, period = excluded.period, burst = excluded.burst,
  at = excluded.at, actor = excluded.actor, reason = excluded.reason, next_at = 0, pattern = ''
WHERE (concurrency, rate, period, burst, pattern) IS NOT (excluded.concurrency, excluded.rate, excluded.period, excluded.burst, '')
