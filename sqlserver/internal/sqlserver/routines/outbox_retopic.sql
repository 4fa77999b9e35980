-- Give messages that wait or have failed, a JSON array of positions, another topic and, unless it is
-- null, another lane to be enqueued to; that is none for messages with ordering keys. They keep their
-- places, but for those that wait for the end of a pause or for a limit of their topic: they go back to where they
-- were enqueued. Returns how many.
CREATE PROCEDURE pawl.outbox_retopic @ids nvarchar(max), @topic nvarchar(510), @lane bigint AS
BEGIN
DECLARE @got int;
DECLARE @held TABLE (id bigint NOT NULL PRIMARY KEY);
DECLARE @moved TABLE (id bigint NOT NULL PRIMARY KEY);
pawl.withdraw_tables()
pawl.begin_own()
INSERT INTO @want (id) SELECT DISTINCT CAST(x.value AS bigint) FROM OPENJSON(@ids) x;
INSERT INTO @held (id)
SELECT o.id FROM pawl.outbox_order o WITH (UPDLOCK, ROWLOCK) WHERE o.id IN (SELECT w.id FROM @want w); -- before the runs, as outbox_order_release
pawl.withdraw(pawl.forever())
INSERT INTO @moved (id) SELECT o.id FROM @out o;
INSERT INTO @moved (id)
SELECT e.id FROM pawl.outbox_exception e WITH (UPDLOCK, ROWLOCK) WHERE e.status = 3 AND e.id IN (SELECT w.id FROM @want w);
UPDATE m SET topic = @topic, lane = coalesce(@lane, m.lane) FROM pawl.outbox_message m INNER JOIN @moved v ON v.id = m.id;
INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry, suspect)
SELECT CASE WHEN @lane IS NULL AND l.kind < 3 THEN o.lane ELSE m.lane END, o.at, o.id, 1, o.retry, o.suspect
  FROM @out o INNER JOIN pawl.outbox_message m ON m.id = o.id LEFT JOIN pawl.outbox_lane l ON l.id = o.lane;
SELECT @got = COUNT(*) FROM @moved;
pawl.end_own()
RETURN @got;
END
