-- Claimed runs whose lease ended longer than ?2 ago, among the ?3 oldest: how
-- many, of how many messages, and since when. ?1 now.
SELECT count(*), coalesce(sum(x.n), 0), min(x.locked_until)
  FROM (SELECT c.n, c.locked_until FROM pawl.outbox_claim c ORDER BY c.lo LIMIT ?3) x WHERE x.locked_until < ?1 - ?2
