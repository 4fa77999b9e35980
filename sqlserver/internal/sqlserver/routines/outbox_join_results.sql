-- Store results of messages for every join of which they are members or, of one that is no member,
-- for those who await it. A message that its owner does not hold is ignored. The others are held, in order of their ids, until the transaction
-- ends, so that the ack which follows in it finds them. Members are read in a statement of
-- its own, which sees what the locks waited for. The lock on a join is on its key in the index
-- alone, as in outbox_join_known: the clean-up skips it, who counts steps passes. Returns how
-- many results.
CREATE PROCEDURE pawl.outbox_join_results @results pawl.outbox_result_list READONLY AS
BEGIN
DECLARE @got int = 0;
pawl.held_tables()
DECLARE @asked TABLE (nr int NOT NULL PRIMARY KEY, owner uniqueidentifier NOT NULL, id bigint NOT NULL, result varbinary(max) NOT NULL);
DECLARE @put TABLE (nr int IDENTITY NOT NULL PRIMARY KEY, asked int NOT NULL, join_id uniqueidentifier NOT NULL);
pawl.begin_own()
INSERT INTO @asked (nr, owner, id, result) SELECT ROW_NUMBER() OVER (ORDER BY r.id), r.owner, r.id, r.result FROM @results r;
pawl.hold_claimed()
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
UPDATE r SET result = a.result FROM @asked a INNER LOOP JOIN pawl.outbox_result r WITH (FORCESEEK) ON r.id = a.id;
SET @got = @got + @@ROWCOUNT;
INSERT INTO pawl.outbox_result (id, result)
SELECT a.id, a.result FROM @asked a
 WHERE DATALENGTH(a.result) > 0 AND NOT EXISTS (SELECT 1 FROM @put p WHERE p.asked = a.nr) AND NOT EXISTS (SELECT 1 FROM pawl.outbox_result r WHERE r.id = a.id);
SET @got = @got + @@ROWCOUNT;
pawl.end_own()
RETURN @got;
END
