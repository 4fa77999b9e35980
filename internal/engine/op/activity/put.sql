INSERT INTO pawl.activity (grain, minute, queue, topic, worker, done, retried, failed, expired, unhandled, waits, takes, created, errors)
VALUES (@grain, @minute, @queue, @topic, @worker, @done, @retried, @failed, @expired, @unhandled, @waits, @takes, @created, @errors)
ON CONFLICT (grain, minute, queue, topic, worker) DO UPDATE SET done = excluded.done, retried = excluded.retried, failed = excluded.failed, expired = excluded.expired,
  unhandled = excluded.unhandled, waits = excluded.waits, takes = excluded.takes, created = excluded.created, errors = excluded.errors
