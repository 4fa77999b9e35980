-- Count what has become of messages in their joins. @spans are runs, a JSON array with lo
-- and n. The places of the messages say what has become of them, so that runs which
-- overlap, or were not moved after all, count each message once and as what it is. To be
-- called after they were moved, or while they are held: only a later statement shows a
-- member that was attached while the move waited for it. What ran before the locks were held
-- may have been counted meanwhile, so the members are read again.
CREATE PROCEDURE pawl.outbox_join_settle @spans nvarchar(max) AS
BEGIN
DECLARE @span TABLE (lo bigint NOT NULL, n bigint NOT NULL);
pawl.join_tables()
pawl.begin_own()
INSERT INTO @span (lo, n) SELECT x.lo, x.n FROM OPENJSON(@spans) WITH (lo bigint, n bigint) x;
INSERT INTO @asked (nr, join_id)
SELECT ROW_NUMBER() OVER (ORDER BY x.join_id), x.join_id
  FROM (SELECT DISTINCT m.join_id FROM @span s INNER LOOP JOIN pawl.outbox_join_member m WITH (FORCESEEK) ON m.id >= s.lo AND m.id < s.lo + s.n WHERE m.status = 0) x;
pawl.lock_joins()
INSERT INTO @step (seq, join_id, id)
SELECT DISTINCT m.seq, m.join_id, m.id
  FROM @span s INNER LOOP JOIN pawl.outbox_join_member m WITH (FORCESEEK) ON m.id >= s.lo AND m.id < s.lo + s.n
 WHERE m.status = 0 AND EXISTS (SELECT 1 FROM @held h WHERE h.join_id = m.join_id);
UPDATE s SET status = 2 FROM @step s WHERE EXISTS (SELECT 1 FROM pawl.outbox_exception e WHERE e.id = s.id AND e.status >= 3);
-- Of the others: who failed messages alone does not wait for who acks their neighbours.
UPDATE s SET status = 1 FROM @step s
 WHERE s.status = 0 AND (SELECT TOP (1) d.lo + d.n FROM pawl.outbox_done d WHERE d.lo <= s.id ORDER BY d.lo DESC) > s.id;
DELETE FROM @step WHERE status = 0;
DELETE FROM @step WHERE seq IN (
  SELECT x.seq FROM (SELECT s.seq, s.join_id, ROW_NUMBER() OVER (PARTITION BY s.join_id ORDER BY s.id) AS nth FROM @step s) x
   INNER JOIN @held h ON h.join_id = x.join_id WHERE x.nth > h.room);
pawl.set_members()
SET @nth = 1;
WHILE @nth <= @joins
BEGIN
  SELECT @join = a.join_id FROM @asked a WHERE a.nr = @nth;
  SELECT @completed = coalesce(SUM(CASE WHEN s.status = 1 THEN 1 ELSE 0 END), 0), @failed = coalesce(SUM(CASE WHEN s.status = 2 THEN 1 ELSE 0 END), 0) FROM @step s WHERE s.join_id = @join;
  IF @completed + @failed > 0
    EXEC pawl.outbox_join_add @join, @completed, @failed;
  SET @nth = @nth + 1;
END;
pawl.end_own()
END
