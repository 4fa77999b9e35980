-- Ids, a JSON array, as the runs of an owner that procedures on many messages take, a JSON
-- array as well. Each id counts once; what no message can have is left out. @delay, in
-- microseconds, and @error go with every run.
CREATE PROCEDURE pawl.outbox_runs @owner uniqueidentifier, @ids nvarchar(max), @delay bigint, @error nvarchar(max), @runs nvarchar(max) OUTPUT AS
BEGIN
SET NOCOUNT ON;
DECLARE @id TABLE (id bigint NOT NULL PRIMARY KEY);
EXEC pawl.check_id N'owner token', @owner;
IF @delay < 0 EXEC pawl.check_refuse N'delay', N'negative';
IF ISJSON(@ids) = 0 EXEC pawl.check_refuse N'ids', N'no JSON array';
INSERT INTO @id (id)
SELECT DISTINCT TRY_CAST(x.value AS bigint) FROM OPENJSON(@ids) x WHERE TRY_CAST(x.value AS bigint) BETWEEN 1 AND 281474976710655;
SET @runs = coalesce((
  SELECT @owner AS owner, MIN(u.id) AS lo, COUNT(*) AS n, @delay AS delay, @error AS error, CAST(1 AS bit) AS unbegun
    FROM (SELECT d.id, d.id - ROW_NUMBER() OVER (ORDER BY d.id) AS island FROM @id d) u GROUP BY u.island ORDER BY MIN(u.id) FOR JSON PATH), N'[]');
END
