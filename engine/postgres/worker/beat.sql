-- A sign of life of process $1: $2 name, $3 host, $4 pid, $5 version, $6 queues and
-- $7 topics as JSON arrays, $8 concurrency, $9 in flight, $10 whether it takes
-- turns, $11 how long until it counts as gone.
INSERT INTO pawl.worker_process AS w (id, name, host, pid, version, started_at, heartbeat_at, expires_at, queues, topics, concurrency, in_flight, shared)
VALUES ($1, $2, $3, $4, $5, clock_timestamp(), clock_timestamp(), clock_timestamp() + $11::interval, $6, $7, $8, $9, $10)
ON CONFLICT (id) DO UPDATE SET heartbeat_at = excluded.heartbeat_at, expires_at = excluded.expires_at, queues = excluded.queues, topics = excluded.topics,
  concurrency = excluded.concurrency, in_flight = excluded.in_flight
