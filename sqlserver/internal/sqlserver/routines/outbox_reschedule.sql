-- Make messages due at another time, null: now, that nobody has claimed: a JSON array of
-- positions. Returns how many.
CREATE PROCEDURE pawl.outbox_reschedule @ids nvarchar(max), @at datetime2(7) AS
BEGIN
DECLARE @now datetime2(7) = SYSUTCDATETIME(), @got int;
pawl.withdraw_tables()
SET @at = coalesce(@at, @now);
pawl.begin_own()
INSERT INTO @want (id) SELECT DISTINCT CAST(x.value AS bigint) FROM OPENJSON(@ids) x;
pawl.withdraw(pawl.forever())
INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry, suspect) SELECT o.lane, @at, o.id, 1, o.retry, o.suspect FROM @out o;
UPDATE e SET next_attempt_at = @at, updated_at = @now FROM pawl.outbox_exception e INNER JOIN @out o ON o.id = e.id WHERE e.status = 0;
SELECT @got = COUNT(*) FROM @out;
pawl.end_own()
RETURN @got;
END
