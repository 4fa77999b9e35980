-- The processes that work on this database, and those that crashed. ?1 now, ?2 how many.
SELECT id, name, host, pid, version, started_at, heartbeat_at, queues, topics, concurrency, in_flight, shared, expires_at > ?1
  FROM pawl.worker_process ORDER BY started_at, id LIMIT ?2
