-- Forget joins that ended longer ago than @age microseconds, looking at the @look oldest of
-- each outcome, unless a wait is still to be handled. That is asked once the joins are
-- locked: somebody may have enqueued one meanwhile (D-34). The lock is that on the key, which
-- outbox_join_known shares; whose join is in use is passed over. Returns how many.
CREATE PROCEDURE pawl.outbox_join_purge @age bigint, @look int AS
BEGIN
DECLARE @before datetime2(7) = SYSUTCDATETIME(), @got int;
DECLARE @old TABLE (join_id uniqueidentifier NOT NULL PRIMARY KEY);
DECLARE @locked TABLE (seq bigint NOT NULL PRIMARY KEY, join_id uniqueidentifier NOT NULL);
DECLARE @wait TABLE (id bigint NOT NULL PRIMARY KEY, join_id uniqueidentifier NOT NULL);
DECLARE @row TABLE (seq bigint NOT NULL PRIMARY KEY);
SET @before = pawl.minus(@before, @age);
pawl.begin_own()
INSERT INTO @old (join_id)
SELECT x.join_id
  FROM (VALUES (1), (2), (3)) s(status)
 CROSS APPLY (SELECT TOP (@look) y.join_id, y.last_updated_utc FROM pawl.outbox_join y WHERE y.status = s.status ORDER BY y.rank) x
 WHERE x.last_updated_utc < @before;
INSERT INTO @locked (seq, join_id)
SELECT j.seq, j.join_id FROM @old o INNER LOOP JOIN pawl.outbox_join j WITH (XLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK) ON j.join_id = o.join_id;
INSERT INTO @wait (id, join_id)
SELECT w.id, w.join_id FROM @locked l INNER LOOP JOIN pawl.outbox_join_waiting w WITH (READCOMMITTEDLOCK, FORCESEEK) ON w.join_id = l.join_id;
-- A statement of its own: it sees what the one before had to wait for.
DELETE FROM @locked WHERE join_id IN (SELECT w.join_id FROM @wait w INNER JOIN pawl.outbox_item i ON i.id = w.id WHERE i.status < 2);
pawl.purge_of_joins(pawl.outbox_join_member)
pawl.purge_of_joins(pawl.outbox_join_result)
DELETE FROM pawl.outbox_join WHERE seq IN (SELECT l.seq FROM @locked l);
SET @got = @@ROWCOUNT;
pawl.end_own()
RETURN @got;
END
