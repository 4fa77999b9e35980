INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry) SELECT lane, @now, @id, 1, 0 FROM pawl.job WHERE id = @job_id
