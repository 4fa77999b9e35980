DELETE FROM pawl.worker_process WHERE expires_at < pawl.minus(@now, @age)
