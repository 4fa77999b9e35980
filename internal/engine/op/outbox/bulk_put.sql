INSERT INTO pawl.outbox_bulk (id, action, ids, topic, queue, error, failed_since, failed_before, most, rate, target, actor, reason, total, created_at, at, fingerprint)
SELECT @id, @action, @ids, @topic, @queue, @error, @failed_since,
  CASE WHEN @failed_before <= @now THEN @failed_before ELSE pawl.plus(@now, @tick) END, @most, @rate, @target, @actor, @reason, @total, @now, @now, @fingerprint WHERE pawl.wake('')
