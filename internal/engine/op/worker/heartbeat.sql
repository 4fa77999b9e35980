INSERT INTO pawl.worker_process (id, name, host, pid, version, started_at, heartbeat_at, expires_at, queues, topics, concurrency, in_flight, overdue, progress, clock_ahead, waiting, connections, shared)
VALUES (@id, @name, @host, @pid, @version, @now, @now, pawl.plus(@now, @alive), @queues, @topics, @concurrency, @in_flight, @overdue, @progress, @clock_ahead, @waiting, @connections, @shared)
ON CONFLICT (id) DO UPDATE SET heartbeat_at = excluded.heartbeat_at, expires_at = excluded.expires_at, queues = excluded.queues, topics = excluded.topics,
  concurrency = excluded.concurrency, in_flight = excluded.in_flight, overdue = excluded.overdue, progress = excluded.progress,
  clock_ahead = excluded.clock_ahead, waiting = excluded.waiting, connections = excluded.connections
