-- Store messages with ids that pawl made, and the runs they form, a JSON array with lane,
-- at (null: now), lo and n. Returns how many messages.
CREATE PROCEDURE pawl.outbox_enqueue_runs @messages pawl.outbox_message_list READONLY, @runs nvarchar(max) AS
BEGIN
DECLARE @now datetime2(7) = SYSUTCDATETIME(), @after bigint = 0, @got int = 0, @some int;
DECLARE @stored TABLE (id bigint NOT NULL);
pawl.begin_own()
WHILE 1 = 1
BEGIN
  INSERT INTO pawl.outbox_message (id, message_id, topic, correlation_id, headers, payload, lane, due_at, created_at)
  OUTPUT inserted.id INTO @stored (id)
  SELECT TOP (1000) x.id, x.message_id, x.topic, x.correlation_id, x.headers, x.payload, x.lane, pawl.from_micros(x.due), @now
    FROM @messages x WHERE x.id > @after ORDER BY x.id;
  SET @some = @@ROWCOUNT;
  SET @got = @got + @some;
  IF @some < 1000 BREAK;
  SELECT @after = MAX(id) FROM @stored;
END;
INSERT INTO pawl.outbox_ready (lane, at, lo, n)
SELECT x.lane, CASE WHEN x.at >= N'1969-12-31T22:48:25.032704' AND x.at < N'1970' THEN pawl.at_once() ELSE coalesce(CAST(LEFT(x.at, 26) AS datetime2(7)), @now) END, x.lo, x.n FROM OPENJSON(@runs) WITH (lane bigint, at nvarchar(40), lo bigint, n bigint) x; -- microseconds, as due_at
pawl.end_own()
RETURN @got;
END
