-- A sign of life of process ?2: ?3 name, ?4 host, ?5 pid, ?6 version, ?7 queues and
-- ?8 topics as JSON arrays, ?9 concurrency, ?10 in flight, ?11 whether it takes
-- turns, ?12 how long until it counts as gone. ?1 now.
INSERT INTO pawl.worker_process (id, name, host, pid, version, started_at, heartbeat_at, expires_at, queues, topics, concurrency, in_flight, shared)
VALUES (?2, ?3, ?4, ?5, ?6, ?1, ?1, ?1 + ?12, ?7, ?8, ?9, ?10, ?11)
ON CONFLICT (id) DO UPDATE SET heartbeat_at = excluded.heartbeat_at, expires_at = excluded.expires_at, queues = excluded.queues, topics = excluded.topics,
  concurrency = excluded.concurrency, in_flight = excluded.in_flight
