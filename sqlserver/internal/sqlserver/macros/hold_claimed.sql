-- hold_claimed()
-- Locks the messages of @asked, in the order of nr, which is that of their ids, and deletes from it
-- those that their owners do not hold, and of one that is asked for twice the second.
SELECT @last = MAX(nr) FROM @asked;
WHILE @nr <= @last
BEGIN
  SELECT @by = owner, @id = id, @held = 0 FROM @asked WHERE nr = @nr;
  WHILE @held = 0 AND @id <> @before
  BEGIN
    SELECT @lo = NULL, @n = NULL;
    SELECT TOP (1) @lo = CASE WHEN c.owner = @by AND c.lo + c.n > @id THEN c.lo END, @n = c.n FROM pawl.outbox_claimed c WHERE c.lo <= @id ORDER BY c.lo DESC;
    IF @lo IS NULL BREAK;
    SELECT @held = 1 FROM pawl.outbox_claimed c WITH (UPDLOCK, ROWLOCK) WHERE c.lo = @lo AND c.n = @n AND c.owner = @by;
  END;
  IF @held = 1
    SET @before = @id;
  ELSE
    DELETE FROM @asked WHERE nr = @nr;
  SET @nr = @nr + 1;
END;
