-- Forget processes that count as gone for longer than $1.
DELETE FROM pawl.worker_process WHERE expires_at < clock_timestamp() - $1::interval
