-- withdraw(until)
-- Takes the messages of @want out of ready, whatever runs they are part of, those that are due
-- until a time. What somebody is moving makes us wait, and then look again (layout rule 7). A
-- run is deleted by its clustered key, which is what a claim locks first.
SELECT @id = MIN(w.id) FROM @want w;
WHILE @id IS NOT NULL
BEGIN
  WHILE 1 = 1
  BEGIN
    DELETE FROM @hit;
    SET @at_lo = NULL;
    SELECT @at_lane = r.lane, @at_time = r.at, @at_lo = r.lo FROM pawl.outbox_ready r WHERE pawl.covers(pawl.outbox_ready, r, @id) AND r.at <= {until};
    IF @at_lo IS NULL BREAK;
    DELETE FROM pawl.outbox_ready WITH (ROWLOCK)
    OUTPUT deleted.lane, deleted.at, deleted.lo, deleted.n, deleted.retry, deleted.suspect INTO @hit (lane, at, lo, n, retry, suspect)
     WHERE lane = @at_lane AND at = @at_time AND lo = @at_lo AND lo + n > @id;
    IF EXISTS (SELECT 1 FROM @hit)
    BEGIN
      INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry, suspect)
      SELECT h.lane, h.at, p.lo, p.n, h.retry, h.suspect
        FROM @hit h CROSS APPLY (VALUES (h.lo, @id - h.lo), (@id + 1, h.lo + h.n - @id - 1)) p(lo, n) WHERE p.n > 0;
      INSERT INTO @out (id, lane, at, retry, suspect) SELECT @id, h.lane, h.at, h.retry, h.suspect FROM @hit h;
      BREAK;
    END;
  END;
  SELECT @id = MIN(w.id) FROM @want w WHERE w.id > @id;
END;
