-- Messages have ended, or no longer keep those of their ordering keys waiting: the next of each
-- key becomes its head. @runs is a JSON array with lo and n. The delete waits for a claim that
-- adds to the line of one of these keys, and the statements behind it see what that added. For a
-- transaction that is open.
CREATE PROCEDURE pawl.outbox_order_release @runs nvarchar(max) AS
BEGIN
SET NOCOUNT ON;
DECLARE @nr int, @lane bigint, @queue nvarchar(510), @ready bigint, @key nvarchar(510), @size int, @id bigint, @from bigint, @at datetime2(7);
DECLARE @run TABLE (lo bigint NOT NULL, n bigint NOT NULL);
DECLARE @ended TABLE (id bigint NOT NULL PRIMARY KEY);
DECLARE @gone TABLE (lane bigint NOT NULL, "key" nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL, head bit NOT NULL);
DECLARE @line TABLE (nr int NOT NULL PRIMARY KEY, lane bigint NOT NULL, "key" nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL);
INSERT INTO @run (lo, n) SELECT x.lo, x.n FROM OPENJSON(@runs) WITH (lo bigint, n bigint) x;
INSERT INTO @ended (id) SELECT DISTINCT o.id FROM @run r INNER LOOP JOIN pawl.outbox_order o ON o.id >= r.lo AND o.id < r.lo + r.n;
DELETE FROM pawl.outbox_order WITH (ROWLOCK) OUTPUT deleted.lane, deleted."key", deleted.head INTO @gone (lane, "key", head) WHERE id IN (SELECT e.id FROM @ended e);
INSERT INTO @line (nr, lane, "key") SELECT ROW_NUMBER() OVER (ORDER BY g.lane, g."key", DATALENGTH(g."key")), g.lane, g."key" FROM @gone g WHERE g.head = 1;
SELECT @nr = MIN(x.nr) FROM @line x;
WHILE @nr IS NOT NULL
BEGIN
  SELECT @lane = x.lane, @key = x."key", @size = DATALENGTH(x."key") FROM @line x WHERE x.nr = @nr;
  SELECT @queue = l.queue FROM pawl.outbox_lane l WHERE l.id = @lane;
  WHILE 1 = 1
  BEGIN
    SELECT @id = NULL, @from = NULL;
    SELECT TOP (1) @id = o.id FROM pawl.outbox_order o WHERE o.lane = @lane AND o."key" = @key AND o.size = @size ORDER BY o.id;
    IF @id IS NULL BREAK;
    UPDATE pawl.outbox_order WITH (ROWLOCK) SET head = 1 WHERE id = @id;
    IF @@ROWCOUNT = 0 CONTINUE; -- it was cancelled meanwhile
    EXEC pawl.outbox_lane_id @queue, 0, @ready OUTPUT;
    WHILE 1 = 1
    BEGIN
      SET @from = NULL;
      SELECT @from = r.lane, @at = r.at FROM pawl.outbox_ready r WHERE r.lo = @id AND r.n = 1;
      IF @from IS NULL BREAK;
      UPDATE pawl.outbox_ready WITH (ROWLOCK) SET lane = @ready WHERE lane = @from AND at = @at AND lo = @id AND n = 1;
      IF @@ROWCOUNT > 0 BREAK; -- else it was made due at another time meanwhile
    END;
    IF @from IS NOT NULL BREAK;
    DELETE FROM pawl.outbox_order WITH (ROWLOCK) WHERE id = @id; -- it is nowhere: nothing waits for it
  END;
  SELECT @nr = MIN(x.nr) FROM @line x WHERE x.nr > @nr;
END;
END
