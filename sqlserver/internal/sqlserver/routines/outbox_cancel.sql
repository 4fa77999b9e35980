-- Take messages back that nobody has claimed, a JSON array of positions: they count as
-- discarded, and as failed steps of their joins. Returns how many.
CREATE PROCEDURE pawl.outbox_cancel @ids nvarchar(max), @reason nvarchar(max) AS
BEGIN
DECLARE @now datetime2(7), @got int, @spans nvarchar(max);
DECLARE @held TABLE (id bigint NOT NULL PRIMARY KEY);
pawl.withdraw_tables()
pawl.begin_own()
INSERT INTO @want (id) SELECT DISTINCT CAST(x.value AS bigint) FROM OPENJSON(@ids) x;
INSERT INTO @held (id)
SELECT o.id FROM pawl.outbox_order o WITH (UPDLOCK, ROWLOCK) WHERE o.id IN (SELECT w.id FROM @want w); -- before the runs, as outbox_order_release
pawl.withdraw(pawl.forever())
SET @now = SYSUTCDATETIME();
UPDATE e SET status = 4, next_attempt_at = NULL, last_error = @reason, fingerprint = NULL, updated_at = @now FROM pawl.outbox_exception e INNER JOIN @out o ON o.id = e.id;
INSERT INTO pawl.outbox_exception (id, status, last_error, updated_at)
SELECT o.id, 4, @reason, @now FROM @out o WHERE NOT EXISTS (SELECT 1 FROM pawl.outbox_exception e WHERE e.id = o.id) ORDER BY o.id;
SELECT @got = COUNT(*) FROM @out;
IF EXISTS (SELECT 1 FROM @out o INNER JOIN pawl.outbox_order x ON x.id = o.id)
BEGIN
  SET @spans = (SELECT o.id AS lo, 1 AS n FROM @out o ORDER BY o.id FOR JSON PATH);
  EXEC pawl.outbox_order_release @spans;
END;
IF EXISTS (SELECT 1 FROM @out o INNER JOIN pawl.outbox_join_member m ON m.id = o.id WHERE m.status = 0)
BEGIN
  SET @spans = (SELECT o.id AS lo, 1 AS n FROM @out o ORDER BY o.id FOR JSON PATH);
  EXEC pawl.outbox_join_settle @spans;
END;
pawl.end_own()
RETURN @got;
END
