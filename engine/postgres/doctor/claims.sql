-- Claimed runs whose lease ended longer than $1 ago, among the $2 oldest: how
-- many, of how many messages, and since when.
SELECT count(*), coalesce(sum(x.n), 0)::int8, min(x.locked_until)
  FROM (SELECT c.n, c.locked_until FROM pawl.outbox_claim c ORDER BY c.lo LIMIT $2) x WHERE x.locked_until < clock_timestamp() - $1::interval
