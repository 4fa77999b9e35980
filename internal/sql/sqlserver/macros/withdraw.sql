-- withdraw(until)
-- Takes the messages of @want out of ready, whatever runs they are part of, those that are due
-- until a time. What somebody is moving makes us wait, and then look again (layout rule 7).
SELECT @id = MIN(w.id) FROM @want w;
WHILE @id IS NOT NULL
BEGIN
  WHILE 1 = 1
  BEGIN
    DELETE FROM @hit;
    DELETE FROM pawl.outbox_ready WITH (ROWLOCK)
    OUTPUT deleted.lane, deleted.at, deleted.lo, deleted.n, deleted.retry, deleted.suspect INTO @hit (lane, at, lo, n, retry, suspect)
     WHERE lo = (SELECT MAX(x.lo) FROM pawl.outbox_ready x WHERE x.lo <= @id) AND lo + n > @id AND at <= {until};
    IF EXISTS (SELECT 1 FROM @hit)
    BEGIN
      INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry, suspect)
      SELECT h.lane, h.at, p.lo, p.n, h.retry, h.suspect
        FROM @hit h CROSS APPLY (VALUES (h.lo, @id - h.lo), (@id + 1, h.lo + h.n - @id - 1)) p(lo, n) WHERE p.n > 0;
      INSERT INTO @out (id, lane, at, retry, suspect) SELECT @id, h.lane, h.at, h.retry, h.suspect FROM @hit h;
      BREAK;
    END;
    IF NOT EXISTS (SELECT 1 FROM pawl.outbox_ready r WHERE pawl.covers(pawl.outbox_ready, r, @id) AND r.at <= {until}) BREAK;
  END;
  SELECT @id = MIN(w.id) FROM @want w WHERE w.id > @id;
END;
