-- claim_suspects(lanes)
-- The claim of due suspects, those of one of outbox_lane l where {lanes}, oldest first. A run whose lease
-- ran out is a suspect: one of its messages may have ended the worker's process. The column suspect of
-- outbox_ready is how many messages may be claimed together with it, all of them suspects: 1000 at
-- first, and half as many as there were each time such a claim expires too; in outbox_claimed it is how
-- many there were. So a message that ends its worker is found in log2(n) claims, and one that was only
-- held beside it loses no attempt. The result is @runs, @part messages.
pawl.at_most(@most)
WHILE @part = 0 AND NOT pawl.paused(@queue)
BEGIN
  SET @lane = NULL;
  SELECT TOP (1) @lane = l.id, @priority = l.priority FROM pawl.outbox_lane l WHERE {lanes} AND l.priority > @priority ORDER BY l.priority;
  IF @lane IS NULL BREAK;
  DELETE FROM @pick;
  DELETE FROM @cut;
  IF @versioned = 1
    INSERT INTO @pick (lo, at, n, retry, suspect)
    SELECT TOP (@most) r.lo, r.at, r.n, r.retry, r.suspect FROM pawl.outbox_ready r WITH (READPAST, UPDLOCK, READCOMMITTEDLOCK)
     WHERE r.lane = @lane AND r.at <= @now AND r.suspect > 0 ORDER BY r.at, r.lo;
  ELSE
    INSERT INTO @pick (lo, at, n, retry, suspect)
    SELECT TOP (@most) r.lo, r.at, r.n, r.retry, r.suspect FROM pawl.outbox_ready r WITH (READPAST, UPDLOCK, ROWLOCK)
     WHERE r.lane = @lane AND r.at <= @now AND r.suspect > 0 ORDER BY r.at, r.lo;
  DELETE FROM @pick WHERE lo IN (
    SELECT x.lo FROM (SELECT p.lo, SUM(p.n) OVER (ORDER BY p.at, p.lo ROWS UNBOUNDED PRECEDING) - p.n AS before,
                             MIN(p.suspect) OVER (ORDER BY p.at, p.lo ROWS UNBOUNDED PRECEDING) AS most FROM @pick p) x
     WHERE x.before >= x.most OR x.before >= @most);
  DELETE r
  OUTPUT deleted.at, deleted.lo, deleted.n, deleted.retry, deleted.suspect INTO @cut (at, lo, n, retry, suspect)
    FROM @pick p INNER LOOP JOIN pawl.outbox_ready r WITH (ROWLOCK, FORCESEEK) ON r.lane = @lane AND r.at = p.at AND r.lo = p.lo;
  UPDATE c SET m = CASE WHEN x.most - x.before <= 0 THEN 0 WHEN x.most - x.before < c.n THEN x.most - x.before ELSE c.n END
    FROM @cut c INNER JOIN (
      SELECT y.lo, y.before, CASE WHEN y.most < @most THEN y.most ELSE @most END AS most
        FROM (SELECT z.lo, SUM(z.n) OVER (ORDER BY z.at, z.lo ROWS UNBOUNDED PRECEDING) - z.n AS before,
                     MIN(z.suspect) OVER (ORDER BY z.at, z.lo ROWS UNBOUNDED PRECEDING) AS most FROM @cut z) y) x ON x.lo = c.lo;
  INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry, suspect)
  SELECT @lane, c.at, c.lo + c.m, c.n - c.m, c.retry, c.suspect FROM @cut c WHERE c.m < c.n;
  SELECT @part = coalesce(SUM(c.m), 0) FROM @cut c;
  pawl.islands(1, @priority)
  INSERT INTO pawl.outbox_claimed (lo, n, lane, at, retry, owner, locked_until, suspect)
  SELECT r.lo, r.n, @lane, r.at, r.retry, @owner, @until, @part FROM @runs r;
END;
