INSERT INTO pawl.outbox_done (lo, n, processed_at, owner, processed_by) VALUES (@lo, @n, @now, @owner, @worker)
