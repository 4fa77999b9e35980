-- The limit that a topic is under, its seq or null: its own, or a row that it gets under the limit for
-- each topic of the longest pattern that it begins as. Of several that want to make one the others
-- wait, up to so many milliseconds (-1: any time): @free is below 0 if that was too long. For a
-- transaction that is open.
CREATE PROCEDURE pawl.outbox_limit_of @topic nvarchar(510), @patience int, @limit bigint OUTPUT, @free int OUTPUT AS
BEGIN
SET NOCOUNT ON;
DECLARE @lock nvarchar(255) = CONCAT(N'pawl.outbox_limits/', LEFT(@topic, 200));
SELECT @limit = NULL, @free = 0;
SELECT @limit = l.seq FROM pawl.outbox_limit l WITH (READPAST, READCOMMITTEDLOCK, INDEX (name)) WHERE l.kind = N'topic' AND pawl.exactly(l.name, @topic);
IF @limit IS NOT NULL OR NOT EXISTS (SELECT 1 FROM pawl.outbox_limit e WITH (READPAST, READCOMMITTEDLOCK, INDEX (name)) WHERE e.kind = N'each' AND pawl.falls_under(e.name, @topic)) RETURN;
EXEC @free = sys.sp_getapplock @Resource = @lock, @LockMode = N'Exclusive', @LockOwner = N'Transaction', @LockTimeout = @patience;
IF @free < 0 RETURN;
INSERT INTO pawl.outbox_limit (kind, name, concurrency, rate, period, burst, at, actor, reason, pattern)
SELECT TOP (1) N'topic', @topic, e.concurrency, e.rate, e.period, e.burst, e.at, e.actor, e.reason, e.name FROM pawl.outbox_limit e
 WHERE e.kind = N'each' AND pawl.falls_under(e.name, @topic) AND NOT EXISTS (SELECT 1 FROM pawl.outbox_limit l WHERE l.kind = N'topic' AND pawl.exactly(l.name, @topic)) ORDER BY LEN(e.name) DESC;
SELECT @limit = l.seq FROM pawl.outbox_limit l WHERE l.kind = N'topic' AND pawl.exactly(l.name, @topic);
END
