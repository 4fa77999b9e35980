INSERT INTO pawl.outbox_exception (id, status, retry_count, next_attempt_at, last_error, fingerprint, updated_at) VALUES (@id, @status, @retry_count, @next_attempt_at, @error, @fingerprint, @now)
ON CONFLICT (id) DO UPDATE SET status = excluded.status, retry_count = excluded.retry_count, next_attempt_at = excluded.next_attempt_at,
  last_error = coalesce(excluded.last_error, last_error), fingerprint = CASE WHEN excluded.last_error IS NULL THEN fingerprint ELSE excluded.fingerprint END, updated_at = excluded.updated_at
