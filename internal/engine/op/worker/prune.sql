DELETE FROM pawl.worker_process WHERE expires_at < @now - @age
