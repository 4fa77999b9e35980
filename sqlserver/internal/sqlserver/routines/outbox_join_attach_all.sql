-- Attach messages, a JSON array of ids, to a join; those already settled are counted at once
-- (D-31). Returns 0, or 1 for an unknown join, or 1 + the number of an unknown message, or 1 + the
-- number of a message that is a wait of this join, which would wait for itself, + how many there are; then
-- nothing was attached. Two that attach the same message come one after the other: both hold it.
CREATE PROCEDURE pawl.outbox_join_attach_all @join uniqueidentifier, @messages nvarchar(max) AS
BEGIN
DECLARE @got int = 0, @known int, @ids nvarchar(max), @settled nvarchar(max), @gone bigint, @nr int = 0, @last int;
DECLARE @member TABLE (nr int NOT NULL PRIMARY KEY, message_id uniqueidentifier NOT NULL, carried bigint NOT NULL, id bigint);
pawl.begin_own()
INSERT INTO @member (nr, message_id, carried)
SELECT CAST(x."key" AS int) + 1, CAST(x.value AS uniqueidentifier), pawl.carried(CAST(x.value AS uniqueidentifier)) FROM OPENJSON(@messages) x;
UPDATE x SET id = m.id FROM @member x INNER JOIN pawl.outbox_message m ON m.id = x.carried AND m.message_id = x.message_id;
IF EXISTS (SELECT 1 FROM @member x WHERE x.id IS NULL)
  UPDATE x SET id = m.id FROM @member x INNER LOOP JOIN pawl.outbox_message m WITH (FORCESEEK) ON m.message_id = x.message_id AND m.supplied = 1 WHERE x.id IS NULL;
SELECT @got = 1 + coalesce(MIN(x.nr), -1) FROM @member x WHERE x.id IS NULL;
IF @got = 0
BEGIN
  SET @ids = (SELECT x.id FROM @member x ORDER BY x.id FOR JSON PATH);
  EXEC pawl.outbox_hold @ids, @settled OUTPUT, @gone OUTPUT;
  SELECT @got = 1 + coalesce(MIN(x.nr), -1) FROM @member x WHERE x.id = @gone;
END;
IF @got = 0
BEGIN
  EXEC @known = pawl.outbox_join_known @join;
  SET @got = 1 - @known;
END;
IF @got = 0
  SELECT @got = coalesce(1 + MIN(x.nr) + (SELECT COUNT(*) FROM @member n), 0) FROM @member x
   WHERE EXISTS (SELECT 1 FROM pawl.outbox_join_wait w WHERE w.id = x.id AND w.join_id = @join);
IF @got = 0
BEGIN
  SELECT @last = MAX(x.nr) FROM @member x;
  WHILE @nr < @last
  BEGIN
    INSERT INTO pawl.outbox_join_member (join_id, id, outbox_message_id)
    SELECT @join, x.id, x.message_id FROM (SELECT DISTINCT m.id, m.message_id FROM @member m WHERE m.nr > @nr AND m.nr <= @nr + 1000) x
     WHERE NOT EXISTS (SELECT 1 FROM pawl.outbox_join_member y WITH (FORCESEEK) WHERE y.join_id = @join AND y.outbox_message_id = x.message_id)
     ORDER BY x.id;
    SET @nr = @nr + 1000;
  END;
  IF @settled IS NOT NULL -- else no join needs to be locked
    EXEC pawl.outbox_join_settle @settled;
END;
pawl.end_own()
RETURN @got;
END
