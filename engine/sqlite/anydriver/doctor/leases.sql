-- Leases that ran out without being released, among the first ?2 by name: how
-- many, one of them, and when the last of them did. ?1 now.
SELECT count(*), min(x.name), max(x.lease_until_utc)
  FROM (SELECT l.name, l.holder, l.lease_until_utc FROM pawl.lease l ORDER BY l.name LIMIT ?2) x
 WHERE x.holder IS NOT NULL AND x.lease_until_utc < ?1
