SELECT count(*) AS n, min(x.name) AS name, max(x.lease_until_utc) AS last
  FROM (SELECT l.name, l.holder, l.lease_until_utc FROM pawl.lease l ORDER BY l.name pawl.limit(@look)) x
 WHERE x.holder IS NOT NULL AND x.lease_until_utc < @now
