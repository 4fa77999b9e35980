INSERT INTO pawl.outbox_exception (id, status, retry_count, next_attempt_at, last_error, updated_at) VALUES (@id, @status, @retry_count, @next_attempt_at, @error, @now)
ON CONFLICT (id) DO UPDATE SET status = excluded.status, retry_count = excluded.retry_count, next_attempt_at = excluded.next_attempt_at,
  last_error = coalesce(excluded.last_error, last_error), updated_at = excluded.updated_at
