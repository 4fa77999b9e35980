-- Record what went wrong with message ?2. ?1 now, ?3 status, ?4 retry count, ?5 next attempt, ?6 error (null keeps the last one).
INSERT INTO pawl.outbox_exception (id, status, retry_count, next_attempt_at, last_error, updated_at) VALUES (?2, ?3, ?4, ?5, ?6, ?1)
ON CONFLICT (id) DO UPDATE SET status = excluded.status, retry_count = excluded.retry_count, next_attempt_at = excluded.next_attempt_at,
  last_error = coalesce(excluded.last_error, last_error), updated_at = excluded.updated_at
