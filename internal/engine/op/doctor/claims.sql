SELECT count(*) AS runs, coalesce(sum(x.n), 0) AS messages, min(x.locked_until) AS since
  FROM (SELECT c.n, c.locked_until FROM pawl.claim_table() c ORDER BY c.lo pawl.limit(@look)) x WHERE x.locked_until < pawl.minus(@now, @age)
