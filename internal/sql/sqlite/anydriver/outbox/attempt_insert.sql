INSERT INTO pawl.outbox_attempt (id, attempt, ended_at, worker, error) VALUES (@id, @attempt, @now, @worker, @error)
