-- Make the waits of joins that are over due at once, wherever in the future they are put
-- back to (D-33). @joins is a JSON array of ids. A run is changed by its clustered key,
-- which is what a claim locks first.
CREATE PROCEDURE pawl.outbox_join_wake @joins nvarchar(max) AS
BEGIN
DECLARE @now datetime2(7) = SYSUTCDATETIME(), @lo bigint, @lane bigint, @at datetime2(7);
DECLARE @over TABLE (join_id uniqueidentifier NOT NULL);
DECLARE @parked TABLE (lo bigint NOT NULL PRIMARY KEY, lane bigint NOT NULL, at datetime2(7) NOT NULL);
pawl.begin_own()
INSERT INTO @over (join_id) SELECT DISTINCT CAST(x.value AS uniqueidentifier) FROM OPENJSON(@joins) x;
INSERT INTO @parked (lo, lane, at)
SELECT r.lo, r.lane, r.at
  FROM @over o INNER LOOP JOIN pawl.outbox_join_waiting w WITH (FORCESEEK) ON w.join_id = o.join_id INNER LOOP JOIN pawl.outbox_ready r WITH (FORCESEEK) ON r.lo = w.id
 WHERE r.n = 1 AND r.at > @now;
WHILE 1 = 1
BEGIN
  SELECT @lo = MIN(lo) FROM @parked;
  IF @lo IS NULL BREAK;
  SELECT @lane = lane, @at = at FROM @parked WHERE lo = @lo;
  UPDATE pawl.outbox_ready WITH (ROWLOCK) SET at = @now WHERE lane = @lane AND at = @at AND lo = @lo AND n = 1;
  DELETE FROM @parked WHERE lo = @lo;
END;
pawl.end_own()
END
