INSERT INTO pawl.outbox_ready (lane, at, lo, n) VALUES (@lane, pawl.ready_at(@lane, @due_at, @now, @group), @lo, 1)
