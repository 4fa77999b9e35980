-- Store messages of which some bring an id of their own. supplied marks ids that are looked
-- for in the index, carried is the position that a made id carries, or 0. A known id adds
-- nothing, also one whose first enqueue is still uncommitted: the insert waits for that, and
-- finds the id known; and that of a timer which is yet to fire. What meets another message at its position goes elsewhere and is found by
-- its mark. Returns how many messages are new.
CREATE PROCEDURE pawl.outbox_enqueue_once @messages pawl.outbox_message_list READONLY AS
BEGIN
DECLARE @now datetime2(7) = SYSUTCDATETIME(), @got int = 0, @nr int, @id bigint, @mid uniqueidentifier, @supplied bit, @carried bigint, @at bigint, @seen bit;
DECLARE @todo TABLE (nr int NOT NULL PRIMARY KEY, id bigint NOT NULL, message_id uniqueidentifier NOT NULL, supplied bit NOT NULL, carried bigint NOT NULL);
DECLARE @new TABLE (id bigint NOT NULL PRIMARY KEY, at bigint NOT NULL, supplied bit NOT NULL);
INSERT INTO @todo (nr, id, message_id, supplied, carried)
SELECT ROW_NUMBER() OVER (ORDER BY x.message_id, x.id), x.id, x.message_id, x.supplied, x.carried FROM @messages x;
pawl.begin_own()
SET @nr = 0;
WHILE 1 = 1
BEGIN
  SET @nr = @nr + 1;
  SELECT @id = NULL, @seen = 0;
  SELECT @id = x.id, @mid = x.message_id, @supplied = x.supplied, @carried = x.carried FROM @todo x WHERE x.nr = @nr;
  IF @id IS NULL BREAK;
  SET @at = @id;
  IF @carried <> 0 SELECT @seen = 1 FROM pawl.outbox_message x WITH (UPDLOCK) WHERE x.id = @carried AND x.message_id = @mid;
  IF @seen = 0 AND @carried <> 0 SELECT @seen = 1 FROM pawl.timer x WHERE x.id = @carried AND x.timer_id = @mid AND x.status < 2;
  IF @seen = 1 CONTINUE;
  IF @supplied = 1 SELECT @seen = 1 FROM pawl.outbox_message x WHERE x.message_id = @mid AND x.supplied = 1;
  IF @seen = 1 CONTINUE;
  SELECT @seen = 1 FROM pawl.outbox_message x WHERE x.id = @at; -- the insert tells what a look cannot see
  IF @seen = 1
  BEGIN
    IF EXISTS (SELECT 1 FROM pawl.outbox_message x WHERE x.id = @at AND x.message_id = @mid) CONTINUE;
    SET @seen = 0;
    SELECT @seen = 1 FROM pawl.outbox_message x WHERE x.message_id = @mid AND x.supplied = 1;
    IF @seen = 1 CONTINUE;
    SET @at = NEXT VALUE FOR pawl.outbox_single;
    SET @supplied = 1;
  END;
  pawl.begin_insert()
  INSERT INTO pawl.outbox_message (id, message_id, topic, correlation_id, headers, payload, lane, due_at, supplied, created_at)
  SELECT @at, x.message_id, x.topic, x.correlation_id, x.headers, x.payload, x.lane, pawl.from_micros(x.due), @supplied, @now
    FROM @todo t INNER JOIN @messages x ON x.id = t.id WHERE t.nr = @nr;
  pawl.end_insert()
  IF @known = 1 -- since the looks above: they are to be taken again
  BEGIN
    SET @nr = @nr - 1;
    CONTINUE;
  END;
  INSERT INTO pawl.outbox_ready (lane, at, lo, n)
  SELECT x.lane, pawl.ready_at(x.lane, pawl.from_micros(x.due), @now, pawl.outbox_group_at(x.headers)), @at, 1 FROM @todo t INNER JOIN @messages x ON x.id = t.id WHERE t.nr = @nr;
  SET @got = @got + 1;
END;
pawl.end_own()
RETURN @got;
END
