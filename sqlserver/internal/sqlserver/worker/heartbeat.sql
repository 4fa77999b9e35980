SET NOCOUNT ON;
DECLARE @GOT int;
UPDATE pawl.worker_process SET heartbeat_at = @now, expires_at = pawl.plus(@now, @alive), queues = @queues, topics = @topics, concurrency = @concurrency, in_flight = @in_flight, overdue = @overdue, progress = @progress,
  clock_ahead = @clock_ahead, waiting = @waiting, connections = @connections WHERE id = @id;
SET @GOT = @@ROWCOUNT;
IF @GOT = 0
BEGIN
  INSERT INTO pawl.worker_process (id, name, host, pid, version, started_at, heartbeat_at, expires_at, queues, topics, concurrency, in_flight, overdue, progress, clock_ahead, waiting, connections, shared)
  VALUES (@id, @name, @host, @pid, @version, @now, @now, pawl.plus(@now, @alive), @queues, @topics, @concurrency, @in_flight, @overdue, @progress, @clock_ahead, @waiting, @connections, @shared);
  SET @GOT = 1;
END;
SET NOCOUNT OFF;
pawl.changed(@GOT)
