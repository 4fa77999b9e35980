-- Ack runs, a JSON array with owner, lo and n, and count in joins what was taken: of what
-- was asked for, somebody else may hold a part, the same worker under its next claim
-- included. @also: runs, with lo and n, that this transaction failed without counting:
-- settling both in one go takes every lock on messages before any on a join. The next messages
-- with their ordering keys may be claimed. Returns how many messages.
CREATE PROCEDURE pawl.outbox_ack_runs @runs nvarchar(max), @worker nvarchar(510), @also nvarchar(max) = NULL AS
BEGIN
DECLARE @now datetime2(7), @got bigint, @spans nvarchar(max);
DECLARE @span TABLE (lo bigint NOT NULL, n bigint NOT NULL);
pawl.run_tables()
pawl.begin_own()
INSERT INTO @run (nr, owner, lo, n)
SELECT ROW_NUMBER() OVER (ORDER BY x.lo), x.owner, x.lo, x.n FROM OPENJSON(@runs) WITH (owner uniqueidentifier, lo bigint, n bigint) x;
pawl.take()
SET @now = SYSUTCDATETIME();
INSERT INTO pawl.outbox_done (lo, n, processed_at, owner, processed_by) SELECT t.lo, t.n, @now, t.owner, @worker FROM @taken t;
SELECT @got = coalesce(SUM(t.n), 0) FROM @taken t;
IF EXISTS (SELECT 1 FROM @taken t WHERE EXISTS (SELECT 1 FROM pawl.outbox_order o WHERE o.id >= t.lo AND o.id < t.lo + t.n))
BEGIN
  SET @spans = (SELECT t.lo, t.n FROM @taken t ORDER BY t.lo FOR JSON PATH);
  EXEC pawl.outbox_order_release @spans;
END;
INSERT INTO @span (lo, n) SELECT t.lo, t.n FROM @taken t UNION ALL SELECT x.lo, x.n FROM OPENJSON(@also) WITH (lo bigint, n bigint) x;
IF EXISTS (SELECT 1 FROM @span s WHERE EXISTS (SELECT 1 FROM pawl.outbox_join_member m WHERE m.id >= s.lo AND m.id < s.lo + s.n AND m.status = 0))
BEGIN
  SET @spans = (SELECT s.lo, s.n FROM @span s ORDER BY s.lo FOR JSON PATH);
  EXEC pawl.outbox_join_settle @spans;
END;
pawl.end_own()
RETURN @got;
END
