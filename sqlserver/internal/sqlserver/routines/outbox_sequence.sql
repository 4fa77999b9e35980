-- Put enqueued messages with ordering keys in order. The first of a key that has no head becomes
-- its head, and may be claimed; the others wait for it (outbox_order_release). Positions come
-- from one sequence while messages are written, and a message that is visible here is so with all
-- that were committed before it was written: in order of position is in order of commits, where
-- transactions follow each other.
-- Nothing waits for a lock: a key of which a message or the head is locked is left for one of the
-- next claims, whole. What is locked shows as what a look that locks nothing sees and one that
-- skips does not. A row that somebody moves is seen by neither where there are no row versions, so
-- one claim of a queue at a time does this: the others take what is in order. A message with a fair key that was due
-- later goes where the others of its key take turns. It ends when @n
-- heads were found: a claim takes no more. Each step begins with the first position: one that went on
-- behind the step before could see the second message of a transaction, and have missed the first,
-- where another's message lies between the two. For a transaction that is open.
CREATE PROCEDURE pawl.outbox_sequence @queue nvarchar(510), @n bigint, @versioned bit AS
BEGIN
SET NOCOUNT ON;
DECLARE @now datetime2(7) = SYSUTCDATETIME(), @ordered bigint, @ready bigint, @waiting bigint, @lock nvarchar(255), @free int, @step int = 0, @heads bigint = 0;
DECLARE @size bigint = 500, @left bigint = 0, @seen bigint, @end_at datetime2(7), @end_lo bigint, @nr int, @key nvarchar(510), @head bigint, @taken int;
DECLARE @look TABLE (lo bigint NOT NULL, at datetime2(7) NOT NULL, n bigint NOT NULL);
DECLARE @run TABLE (lo bigint NOT NULL PRIMARY KEY, at datetime2(7) NOT NULL, n bigint NOT NULL, got bit NOT NULL);
DECLARE @pick TABLE (lo bigint NOT NULL PRIMARY KEY, at datetime2(7) NOT NULL, n bigint NOT NULL);
DECLARE @message TABLE (id bigint NOT NULL, lo bigint NOT NULL, created_at datetime2(7) NOT NULL, "key" nvarchar(510) COLLATE Latin1_General_100_BIN2, size int, turn datetime2(7));
DECLARE @line TABLE (nr int NOT NULL PRIMARY KEY, "key" nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL, size int NOT NULL, head bigint, kept int NOT NULL);
DECLARE @cut TABLE (lo bigint NOT NULL PRIMARY KEY, at datetime2(7) NOT NULL, n bigint NOT NULL, retry int NOT NULL, suspect int NOT NULL);
DECLARE @good TABLE (id bigint NOT NULL PRIMARY KEY, "key" nvarchar(510) COLLATE Latin1_General_100_BIN2, head bit NOT NULL);
SELECT @ordered = l.id FROM pawl.outbox_lane l WHERE pawl.exactly(l.queue, @queue) AND l.kind = 1 AND l.priority = 0;
IF @ordered IS NULL OR NOT EXISTS (SELECT 1 FROM pawl.outbox_ready r pawl.unlocked() WHERE r.lane = @ordered AND r.at >= pawl.at_once() AND r.at <= @now) RETURN;
SET @lock = CONCAT(@ordered, N'/pawl.outbox_sequence');
EXEC @free = sys.sp_getapplock @Resource = @lock, @LockMode = N'Exclusive', @LockOwner = N'Transaction', @LockTimeout = 0;
IF @free < 0 RETURN;
EXEC pawl.outbox_lane_id @queue, 0, @ready OUTPUT;
EXEC pawl.outbox_lane_id @queue, 0, @waiting OUTPUT, 2;
WHILE @step < 4 AND @heads < @n -- bounds how long a claim may take
BEGIN
  SET @step = @step + 1;
  DELETE FROM @look;
  DELETE FROM @run;
  DELETE FROM @pick;
  DELETE FROM @message;
  DELETE FROM @line;
  DELETE FROM @cut;
  DELETE FROM @good;
  IF @versioned = 1
    INSERT INTO @look (lo, at, n)
    SELECT TOP (@size + @left) r.lo, r.at, r.n FROM pawl.outbox_ready r
     WHERE r.lane = @ordered AND r.at >= pawl.at_once() AND r.at <= @now ORDER BY r.at, r.lo;
  ELSE
    INSERT INTO @look (lo, at, n)
    SELECT TOP (@size + @left) r.lo, r.at, r.n FROM pawl.outbox_ready r WITH (READUNCOMMITTED)
     WHERE r.lane = @ordered AND r.at >= pawl.at_once() AND r.at <= @now ORDER BY r.at, r.lo;
  INSERT INTO @run (lo, at, n, got) SELECT k.lo, MIN(k.at), MAX(k.n), 0 FROM @look k GROUP BY k.lo; -- what moves is seen twice, maybe
  DELETE FROM @run WHERE lo IN (
    SELECT x.lo FROM (SELECT r.lo, r.n, SUM(r.n) OVER (ORDER BY r.at, r.lo ROWS UNBOUNDED PRECEDING) AS upto FROM @run r) x WHERE x.upto > 2 * (@size + @left) AND x.upto > x.n);
  SET @end_lo = NULL;
  SELECT TOP (1) @end_at = r.at, @end_lo = r.lo FROM @run r ORDER BY r.at DESC, r.lo DESC;
  IF @end_lo IS NULL BREAK;
  IF @versioned = 1
    INSERT INTO @pick (lo, at, n)
    SELECT TOP (2 * (@size + @left)) r.lo, r.at, r.n FROM pawl.outbox_ready r WITH (READPAST, UPDLOCK, READCOMMITTEDLOCK)
     WHERE r.lane = @ordered AND r.at >= pawl.at_once() AND pawl.before(r.at, r.lo, @end_at, @end_lo + 1) ORDER BY r.at, r.lo;
  ELSE
    INSERT INTO @pick (lo, at, n)
    SELECT TOP (2 * (@size + @left)) r.lo, r.at, r.n FROM pawl.outbox_ready r WITH (READPAST, UPDLOCK, ROWLOCK)
     WHERE r.lane = @ordered AND r.at >= pawl.at_once() AND pawl.before(r.at, r.lo, @end_at, @end_lo + 1) ORDER BY r.at, r.lo;
  UPDATE r SET got = 1 FROM @run r INNER JOIN @pick p ON p.lo = r.lo AND p.n = r.n;
  -- Came since the look, which may have missed what was committed before it: a reason to wait.
  INSERT INTO @run (lo, at, n, got) SELECT p.lo, p.at, p.n, 0 FROM @pick p WHERE NOT EXISTS (SELECT 1 FROM @run r WHERE r.lo = p.lo);
  IF @versioned = 1
    INSERT INTO @message (id, lo, created_at, "key", turn)
    SELECT m.id, r.lo, m.created_at, pawl.outbox_ordering_key(m.headers), CASE WHEN r.at > pawl.at_once() THEN NULLIF(pawl.outbox_group_at(m.headers), pawl.at_once()) END FROM @run r INNER LOOP JOIN pawl.outbox_message m ON m.id >= r.lo AND m.id < r.lo + r.n;
  ELSE
    INSERT INTO @message (id, lo, created_at, "key", turn)
    SELECT m.id, r.lo, m.created_at, pawl.outbox_ordering_key(m.headers), CASE WHEN r.at > pawl.at_once() THEN NULLIF(pawl.outbox_group_at(m.headers), pawl.at_once()) END FROM @run r INNER LOOP JOIN pawl.outbox_message m WITH (READUNCOMMITTED) ON m.id >= r.lo AND m.id < r.lo + r.n;
  UPDATE @message SET size = DATALENGTH("key");
  INSERT INTO @line (nr, "key", size, kept)
  SELECT ROW_NUMBER() OVER (ORDER BY MIN(m.id)), m."key", m.size, MAX(CASE WHEN r.got = 1 THEN 0 ELSE 1 END)
    FROM @message m INNER JOIN @run r ON r.lo = m.lo WHERE m."key" IS NOT NULL GROUP BY m."key", m.size;
  SELECT @nr = MIN(x.nr) FROM @line x WHERE x.kept = 0;
  WHILE @nr IS NOT NULL
  BEGIN
    SELECT @key = x."key" FROM @line x WHERE x.nr = @nr;
    EXEC @taken = pawl.outbox_order_head @ordered, @key, @head OUTPUT;
    UPDATE @line SET head = @head, kept = 1 - @taken WHERE nr = @nr;
    SELECT @nr = MIN(x.nr) FROM @line x WHERE x.kept = 0 AND x.nr > @nr;
  END;
  DELETE y
  OUTPUT deleted.lo, deleted.at, deleted.n, deleted.retry, deleted.suspect INTO @cut (lo, at, n, retry, suspect)
    FROM (SELECT DISTINCT r.at, r.lo FROM @message m INNER JOIN @run r ON r.lo = m.lo LEFT JOIN @line x ON x."key" = m."key" AND x.size = m.size
           WHERE r.got = 1 AND coalesce(x.kept, 0) = 0) k
   INNER LOOP JOIN pawl.outbox_ready y WITH (ROWLOCK, FORCESEEK) ON y.lane = @ordered AND y.at = k.at AND y.lo = k.lo;
  UPDATE x SET kept = 1 FROM @line x INNER JOIN @message m ON m."key" = x."key" AND m.size = x.size
   WHERE NOT EXISTS (SELECT 1 FROM @cut c WHERE c.lo = m.lo AND m.id < c.lo + c.n);
  INSERT INTO @good (id, "key", head)
  SELECT s.id, s."key", CASE WHEN s."key" IS NULL OR s.head = s.id OR s.head IS NULL AND s.nr = 1 THEN 1 ELSE 0 END
    FROM (SELECT m.id, m."key", x.head, ROW_NUMBER() OVER (PARTITION BY m."key", m.size ORDER BY m.id) AS nr
            FROM @message m INNER JOIN @cut c ON c.lo = m.lo AND m.id < c.lo + c.n LEFT JOIN @line x ON x."key" = m."key" AND x.size = m.size
           WHERE coalesce(x.kept, 0) = 0) s;
  INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry, suspect)
  SELECT CASE WHEN g.id IS NULL OR m.turn IS NOT NULL AND c.suspect = 0 THEN @ordered WHEN g.head = 1 THEN @ready ELSE @waiting END,
         CASE WHEN g.id IS NOT NULL AND m.turn IS NOT NULL AND c.suspect = 0 THEN m.turn WHEN g.id IS NOT NULL AND c.at = pawl.at_once() THEN m.created_at ELSE c.at END, m.id, 1, c.retry, c.suspect
    FROM @cut c INNER JOIN @message m ON m.lo = c.lo AND m.id < c.lo + c.n LEFT JOIN @good g ON g.id = m.id;
  INSERT INTO pawl.outbox_order (id, lane, "key", head)
  SELECT g.id, @ordered, g."key", g.head FROM @good g WHERE g."key" IS NOT NULL AND NOT EXISTS (SELECT 1 FROM pawl.outbox_order o WHERE o.id = g.id);
  SET @heads = @heads + (SELECT COUNT(*) FROM @good g INNER JOIN @message m ON m.id = g.id WHERE g.head = 1 AND m.turn IS NULL);
  SELECT @seen = COUNT(*) FROM @message;
  IF @seen < @size BREAK;
  SELECT @left = @seen - (SELECT COUNT(*) FROM @good), @size = 2 * @size;
END;
END
