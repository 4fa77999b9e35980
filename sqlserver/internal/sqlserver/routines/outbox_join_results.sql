-- Store results of messages for every join of which they are members. A message that its owner
-- does not hold is ignored. The others are held, in order of their ids, until the transaction
-- ends, so that the ack which follows in it finds them. Members are read in a statement of
-- its own, which sees what the locks waited for. The lock on a join is on its key in the index
-- alone, as in outbox_join_known: the clean-up skips it, who counts steps passes. Returns how
-- many results.
CREATE PROCEDURE pawl.outbox_join_results @results pawl.outbox_result_list READONLY AS
BEGIN
DECLARE @got int = 0, @nr int = 1, @last int, @by uniqueidentifier, @id bigint, @lo bigint, @n bigint, @held bit, @before bigint = 0;
DECLARE @asked TABLE (nr int NOT NULL PRIMARY KEY, owner uniqueidentifier NOT NULL, id bigint NOT NULL, result varbinary(max) NOT NULL);
DECLARE @put TABLE (nr int IDENTITY NOT NULL PRIMARY KEY, asked int NOT NULL, join_id uniqueidentifier NOT NULL);
pawl.begin_own()
INSERT INTO @asked (nr, owner, id, result) SELECT ROW_NUMBER() OVER (ORDER BY r.id), r.owner, r.id, r.result FROM @results r;
SELECT @last = MAX(nr) FROM @asked;
WHILE @nr <= @last
BEGIN
  SELECT @by = owner, @id = id, @held = 0 FROM @asked WHERE nr = @nr;
  WHILE @held = 0 AND @id <> @before -- it may be asked for under another claim as well
  BEGIN
    SELECT @lo = NULL, @n = NULL;
    SELECT TOP (1) @lo = CASE WHEN c.owner = @by AND c.lo + c.n > @id THEN c.lo END, @n = c.n FROM pawl.outbox_claimed c WHERE c.lo <= @id ORDER BY c.lo DESC;
    IF @lo IS NULL BREAK;
    SELECT @held = 1 FROM pawl.outbox_claimed c WITH (UPDLOCK, ROWLOCK) WHERE c.lo = @lo AND c.n = @n AND c.owner = @by;
  END;
  IF @held = 1
    SET @before = @id;
  ELSE
    DELETE FROM @asked WHERE nr = @nr;
  SET @nr = @nr + 1;
END;
INSERT INTO @put (asked, join_id)
SELECT a.nr, j.join_id
  FROM @asked a INNER LOOP JOIN pawl.outbox_join_member m WITH (FORCESEEK) ON m.id = a.id
 INNER LOOP JOIN pawl.outbox_join j WITH (REPEATABLEREAD, ROWLOCK, FORCESEEK) ON j.join_id = m.join_id;
SELECT @nr = 1, @last = MAX(nr) FROM @put;
WHILE @nr <= @last
BEGIN
  UPDATE r SET result = a.result
    FROM @put p INNER JOIN @asked a ON a.nr = p.asked INNER LOOP JOIN pawl.outbox_join_result r WITH (FORCESEEK) ON r.join_id = p.join_id AND r.id = a.id
   WHERE p.nr >= @nr AND p.nr < @nr + 1000;
  SET @got = @got + @@ROWCOUNT;
  INSERT INTO pawl.outbox_join_result (join_id, id, result)
  SELECT p.join_id, a.id, a.result FROM @put p INNER JOIN @asked a ON a.nr = p.asked
   WHERE p.nr >= @nr AND p.nr < @nr + 1000 AND NOT EXISTS (SELECT 1 FROM pawl.outbox_join_result r WHERE r.join_id = p.join_id AND r.id = a.id);
  SET @got = @got + @@ROWCOUNT;
  SET @nr = @nr + 1000;
END;
pawl.end_own()
RETURN @got;
END
