-- End requests of outbox_stop, a JSON array of positions, whose messages are not claimed any more: those that
-- wait again are cancelled.
CREATE PROCEDURE pawl.outbox_stop_end @ids nvarchar(max) AS
BEGIN
DECLARE @got int = 0, @id bigint, @last bigint, @reason nvarchar(max), @again nvarchar(max), @any bit;
DECLARE @over TABLE (id bigint NOT NULL PRIMARY KEY, anybody bit NOT NULL, reason nvarchar(max) NOT NULL);
pawl.begin_own()
DELETE s OUTPUT deleted.id, CASE WHEN deleted.owner IS NULL THEN 1 ELSE 0 END, deleted.reason INTO @over (id, anybody, reason)
  FROM OPENJSON(@ids) u INNER LOOP JOIN pawl.outbox_stopping s WITH (FORCESEEK, ROWLOCK) ON s.id = CAST(u.value AS bigint) WHERE NOT pawl.stopping(s);
SELECT @got = COUNT(*), @id = MIN(o.id), @last = MAX(o.id) FROM @over o;
WHILE @id <= @last
BEGIN
  SELECT @reason = o.reason, @any = o.anybody, @again = CONCAT(N'[', o.id, N']') FROM @over o WHERE o.id = @id;
  IF @any = 1 EXEC pawl.outbox_stop @again, @reason; -- which asks again if it was claimed meanwhile
  SELECT @id = MIN(o.id) FROM @over o WHERE o.id > @id;
END;
pawl.end_own()
RETURN @got;
END
