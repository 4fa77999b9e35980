-- End claimed timers, a JSON array of ids: fired (2) or failed for good (3). Returns how many.
CREATE PROCEDURE pawl.timer_end_rows @owner uniqueidentifier, @timers nvarchar(max), @status smallint, @error nvarchar(max) AS
BEGIN
SET NOCOUNT ON;
DECLARE @now datetime2(7) = SYSUTCDATETIME();
DECLARE @of TABLE (timer_id uniqueidentifier NOT NULL);
INSERT INTO @of (timer_id) SELECT DISTINCT CAST(x.value AS uniqueidentifier) FROM OPENJSON(@timers) x WHERE x.value IS NOT NULL;
UPDATE pawl.timer SET status = @status, processed_at = @now, locked_until = NULL, last_error = coalesce(@error, last_error)
 WHERE status = 1 AND owner = @owner AND timer_id IN (SELECT o.timer_id FROM @of o);
RETURN @@ROWCOUNT;
END
