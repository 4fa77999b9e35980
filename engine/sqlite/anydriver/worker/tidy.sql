-- Forget processes that count as gone for longer than ?2. ?1 now.
DELETE FROM pawl.worker_process WHERE expires_at < ?1 - ?2
