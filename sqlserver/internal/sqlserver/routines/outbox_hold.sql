-- Hold messages where they are until the transaction ends (layout rule 7). @ids is a JSON
-- array of positions, each as id. A run that is being moved makes us wait and then is gone;
-- the next look finds where it went. @settled is a JSON array of the runs, with lo and n, that are
-- settled among them, null if none is; @gone the first message that is no longer anywhere. A run is
-- locked by its clustered key, which is what a claim locks first: claims pass it by. A message that is in
-- no place, which is a fault that pawl doctor --fix repairs, is an error: it would be looked for without end.
CREATE PROCEDURE pawl.outbox_hold @ids nvarchar(max), @settled nvarchar(max) OUTPUT, @gone bigint OUTPUT AS
BEGIN
SET NOCOUNT ON;
DECLARE @id bigint = 0, @next bigint, @end bigint = 0, @is bit = 0, @lo bigint, @lane bigint, @at datetime2(7), @n bigint, @looks int, @text nvarchar(200);
DECLARE @asked TABLE (id bigint NOT NULL PRIMARY KEY);
DECLARE @over TABLE (lo bigint NOT NULL PRIMARY KEY);
SELECT @settled = NULL, @gone = NULL;
INSERT INTO @asked (id) SELECT DISTINCT x.id FROM OPENJSON(@ids) WITH (id bigint) x WHERE x.id IS NOT NULL;
WHILE 1 = 1
BEGIN
  SELECT @next = MIN(id) FROM @asked WHERE id > @id;
  IF @next IS NULL BREAK;
  SELECT @id = @next, @looks = 0;
  WHILE @end <= @id
  BEGIN
    SELECT @is = 0, @lo = NULL, @n = NULL;
    SELECT TOP (1) @lo = r.lo, @n = r.n, @lane = r.lane, @at = r.at FROM pawl.outbox_ready r WITH (FORCESEEK) WHERE r.lo <= @id ORDER BY r.lo DESC;
    IF @lo + @n > @id
    BEGIN
      SET @n = NULL;
      SELECT @n = r.n FROM pawl.outbox_ready r WITH (UPDLOCK, ROWLOCK) WHERE r.lane = @lane AND r.at = @at AND r.lo = @lo;
      IF @lo + @n > @id SET @end = @lo + @n;
      CONTINUE;
    END;
    SELECT @lo = NULL, @n = NULL;
    SELECT TOP (1) @lo = c.lo, @n = c.n FROM pawl.outbox_claimed c WHERE c.lo <= @id ORDER BY c.lo DESC;
    IF @lo + @n > @id
    BEGIN
      SET @n = NULL;
      SELECT @n = c.n FROM pawl.outbox_claimed c WITH (UPDLOCK, ROWLOCK) WHERE c.lo = @lo;
      IF @lo + @n > @id SET @end = @lo + @n;
      CONTINUE;
    END;
    SET @is = 1;
    SELECT @lo = NULL, @n = NULL;
    SELECT TOP (1) @lo = d.lo, @n = d.n FROM pawl.outbox_done d WHERE d.lo <= @id ORDER BY d.lo DESC;
    IF @lo + @n > @id
    BEGIN
      SET @n = NULL;
      SELECT @n = d.n FROM pawl.outbox_done d WITH (UPDLOCK, ROWLOCK) WHERE d.lo = @lo;
      IF @lo + @n > @id SET @end = @lo + @n;
      CONTINUE;
    END;
    SET @n = NULL;
    SELECT @n = 1 FROM pawl.outbox_exception e WITH (UPDLOCK, ROWLOCK) WHERE e.id = @id AND e.status >= 3;
    IF @n = 1
    BEGIN
      SET @end = @id + 1;
      CONTINUE;
    END;
    IF NOT EXISTS (SELECT 1 FROM pawl.outbox_message m WHERE m.id = @id)
    BEGIN
      SET @gone = @id;
      RETURN;
    END;
    SET @looks = @looks + 1;
    IF @looks = 1000 -- it may have moved behind a look
    BEGIN
      SET @text = CONCAT(N'message at position ', @id, N' is in no place: run pawl doctor --fix');
      THROW 57123, @text, 1;
    END;
  END;
  IF @is = 1 INSERT INTO @over (lo) VALUES (@id);
END;
IF EXISTS (SELECT 1 FROM @over)
  SET @settled = (SELECT o.lo, 1 AS n FROM @over o ORDER BY o.lo FOR JSON PATH);
END
