-- Messages have ended, or no longer keep those of their ordering keys waiting: the next of each
-- key becomes its head (outbox_order_lead). @runs is a JSON array with lo and n. The delete waits for
-- a claim that adds to the line of one of these keys, and the statements behind it see what that
-- added. For a transaction that is open.
CREATE PROCEDURE pawl.outbox_order_release @runs nvarchar(max) AS
BEGIN
SET NOCOUNT ON;
DECLARE @nr int, @lane bigint, @key nvarchar(510);
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
  SELECT @lane = x.lane, @key = x."key" FROM @line x WHERE x.nr = @nr;
  EXEC pawl.outbox_order_lead @lane, @key;
  SELECT @nr = MIN(x.nr) FROM @line x WHERE x.nr > @nr;
END;
END
