SET NOCOUNT ON;
UPDATE pawl.activity SET done = @done, retried = @retried, failed = @failed, expired = @expired, unhandled = @unhandled, waits = @waits, takes = @takes, created = @created, errors = @errors
 WHERE grain = @grain AND minute = @minute AND queue = @queue AND topic = @topic AND worker = @worker;
IF @@ROWCOUNT = 0
  INSERT INTO pawl.activity (grain, minute, queue, topic, worker, done, retried, failed, expired, unhandled, waits, takes, created, errors)
  VALUES (@grain, @minute, @queue, @topic, @worker, @done, @retried, @failed, @expired, @unhandled, @waits, @takes, @created, @errors);
SET NOCOUNT OFF;
pawl.changed(1)
