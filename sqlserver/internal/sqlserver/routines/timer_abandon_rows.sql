-- Put claimed timers, a JSON array of ids, back for another attempt, after @delay
-- microseconds (null: backoff), and count this one as failed. Returns how many.
CREATE PROCEDURE pawl.timer_abandon_rows @owner uniqueidentifier, @timers nvarchar(max), @delay bigint, @error nvarchar(max) AS
BEGIN
SET NOCOUNT ON;
DECLARE @now datetime2(7) = SYSUTCDATETIME();
DECLARE @of TABLE (timer_id uniqueidentifier NOT NULL);
INSERT INTO @of (timer_id) SELECT DISTINCT CAST(x.value AS uniqueidentifier) FROM OPENJSON(@timers) x WHERE x.value IS NOT NULL;
UPDATE pawl.timer
   SET status = 0, at = pawl.plus(@now, coalesce(@delay, 1000000 * pawl.backoff(retry_count))), retry_count = retry_count + 1, suspect = 0,
       owner = NULL, claimed_at = NULL, locked_until = NULL, last_error = coalesce(@error, last_error)
 WHERE status = 1 AND owner = @owner AND timer_id IN (SELECT o.timer_id FROM @of o);
RETURN @@ROWCOUNT;
END
