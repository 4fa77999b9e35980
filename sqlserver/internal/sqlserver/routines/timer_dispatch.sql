-- Move up to @most due timers into the outbox, in one transaction with their end here
-- (D-71), so that a crash leaves each in one place. They are claimable at once, wherever in
-- the past they were due, and neighbors become one run. A supplied id that the outbox knows
-- adds no second message. What somebody has locked is passed over; lane lies in no index,
-- so what is picked is the row. Returns how many.
CREATE PROCEDURE pawl.timer_dispatch @most int AS
BEGIN
DECLARE @now datetime2(7) = SYSUTCDATETIME(), @got int;
DECLARE @due TABLE (id bigint NOT NULL PRIMARY KEY, lane bigint NOT NULL, timer_id uniqueidentifier NOT NULL, supplied bit NOT NULL);
DECLARE @new TABLE (id bigint NOT NULL PRIMARY KEY, lane bigint NOT NULL);
pawl.at_most(@most)
pawl.begin_own()
WHILE 1 = 1
BEGIN
  DELETE FROM @due;
  DELETE FROM @new;
  INSERT INTO @due (id, lane, timer_id, supplied)
  SELECT TOP (@most) t.id, t.lane, t.timer_id, t.supplied FROM pawl.timer t WITH (READPAST, UPDLOCK, READCOMMITTEDLOCK, INDEX (pending))
   WHERE t.status = 0 AND t.at <= @now ORDER BY t.at, t.id;
  IF NOT EXISTS (SELECT 1 FROM @due d INNER LOOP JOIN pawl.outbox_message m ON m.id = d.id)
  BEGIN
    pawl.begin_insert()
    INSERT INTO pawl.outbox_message (id, message_id, supplied, lane, due_at, topic, correlation_id, headers, payload)
    OUTPUT inserted.id, inserted.lane INTO @new (id, lane)
    SELECT t.id, t.timer_id, t.supplied, t.lane, t.due_time, t.topic, t.correlation_id, t.headers, t.payload
      FROM @due d INNER LOOP JOIN pawl.timer t ON t.id = d.id
     WHERE d.supplied = 0 OR NOT EXISTS (SELECT 1 FROM pawl.outbox_message x WHERE x.message_id = d.timer_id AND x.supplied = 1)
       AND NOT EXISTS (SELECT 1 FROM pawl.outbox_message x WHERE x.id = pawl.carried(d.timer_id) AND x.message_id = d.timer_id)
     ORDER BY d.id;
    pawl.end_insert()
    IF @known = 0 BREAK;
    CONTINUE; -- a message with one of the ids came since the look
  END;
  -- Ids were given out twice, by a history that was lost. Of a timer whose message is there
  -- already nothing is left to do; others get a position of their own.
  UPDATE t SET status = 2, processed_at = @now, payload = 0x
    FROM @due d INNER LOOP JOIN pawl.outbox_message m ON m.id = d.id AND m.message_id = d.timer_id INNER LOOP JOIN pawl.timer t WITH (FORCESEEK) ON t.id = d.id
   WHERE t.status = 0;
  SET @got = coalesce(@got, 0) + @@ROWCOUNT;
  UPDATE t SET id = NEXT VALUE FOR pawl.outbox_single, supplied = 1
    FROM @due d INNER LOOP JOIN pawl.outbox_message m ON m.id = d.id INNER LOOP JOIN pawl.timer t WITH (FORCESEEK) ON t.id = d.id
   WHERE t.status = 0;
END;
INSERT INTO pawl.outbox_ready (lane, at, lo, n)
SELECT s.lane, @now, MIN(s.id), COUNT(*)
  FROM (SELECT n.lane, n.id, n.id - ROW_NUMBER() OVER (PARTITION BY n.lane ORDER BY n.id) AS island FROM @new n) s
 GROUP BY s.lane, s.island ORDER BY s.lane, MIN(s.id);
UPDATE t SET status = 2, processed_at = @now, payload = 0x FROM @due d INNER LOOP JOIN pawl.timer t WITH (FORCESEEK) ON t.id = d.id WHERE t.status = 0;
SET @got = coalesce(@got, 0) + @@ROWCOUNT;
pawl.end_own()
RETURN @got;
END
