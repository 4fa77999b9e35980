SELECT concurrency, rate, period, burst, next_at FROM pawl.outbox_limit WHERE kind = @kind AND name = @name
