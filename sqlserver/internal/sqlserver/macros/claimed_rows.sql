-- claimed_rows()
-- The answer of a claim, by @answer: N'messages' are those of @runs, N'texts' those for other
-- languages, of which those that have expired end here and are left out; N'runs' are the runs alone, in
-- @claimed. The runs come first, a message is found by its id. Both lie in the order of the answer: a sort
-- would ask for memory by an estimate of the messages of all runs, which nothing knows, payloads included.
IF @answer = N'texts'
BEGIN
SET @now = SYSUTCDATETIME(); -- what has expired while it was claimed has expired
SET @claimed = (SELECT @owner AS owner, m.id AS lo, 1 AS n, CAST(1 AS bit) AS expired
  FROM @runs r INNER LOOP JOIN pawl.outbox_message m ON m.id >= r.lo AND m.id < r.lo + r.n WHERE CASE WHEN m.headers LIKE N'%"pawl-expires"%' THEN pawl.outbox_expiry(m.headers) END <= @now FOR JSON PATH);
IF @claimed IS NOT NULL
BEGIN
  EXEC pawl.activity_count @claimed, N'expired';
  EXEC pawl.outbox_fail_runs @claimed;
END;
SELECT m.id, m.message_id, m.topic, pawl.outbox_text(m.payload) AS payload, m.correlation_id, m.headers, m.created_at, m.due_at AS due_time_utc, r.retry AS retry_count
  FROM @runs r INNER LOOP JOIN pawl.outbox_message m ON m.id >= r.lo AND m.id < r.lo + r.n
 WHERE coalesce(CASE WHEN m.headers LIKE N'%"pawl-expires"%' THEN pawl.outbox_expiry(m.headers) END, pawl.forever()) > @now
 ORDER BY r.nr, r.at, r.lo, m.id;
END
ELSE IF @answer = N'messages'
SELECT pawl.message(m), r.retry AS retry_count, @queue AS queue, r.priority, @until AS locked_until
  FROM @runs r INNER LOOP JOIN pawl.outbox_message m ON m.id >= r.lo AND m.id < r.lo + r.n
 ORDER BY r.nr, r.at, r.lo, m.id;
ELSE
pawl.claimed_runs()
