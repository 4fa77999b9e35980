SELECT count(*) AS n FROM (SELECT d.lo, d.n, d.owner FROM pawl.outbox_done d WHERE d.lo <= @id ORDER BY d.lo DESC pawl.limit(1)) x
 WHERE x.lo + x.n > @id AND x.owner = @owner
