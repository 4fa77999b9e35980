-- Take a lease if it is free and nobody waits in front. ?1 now, ?2 name,
-- ?3 owner, ?4 holder (the acquisition's own id), ?5 lease. One row, token and
-- end, or none. Asking again as the same holder finds the lease it already has. The
-- token carries the generation in its high bits.
INSERT INTO pawl.lease_row AS l (name, owner, holder, token, lease_until, last_granted)
SELECT ?2, ?3, ?4, max(1, (SELECT (g.number << 12) + 1 FROM pawl.generation g)), ?1 + ?5, ?1
 WHERE NOT EXISTS (SELECT 1 FROM pawl.lease_waiter w
                    WHERE w.name = ?2 AND w.id <> ?4 AND w.alive_until > ?1
                      AND w.ticket < coalesce((SELECT m.ticket FROM pawl.lease_waiter m WHERE m.id = ?4), 9223372036854775807))
ON CONFLICT (name) DO UPDATE
  SET owner = excluded.owner, holder = excluded.holder, token = CASE WHEN l.holder IS excluded.holder THEN l.token ELSE max(l.token + 1, excluded.token) END,
      lease_until = excluded.lease_until, last_granted = excluded.last_granted
  WHERE l.holder IS NULL OR l.holder = excluded.holder OR l.lease_until <= ?1
RETURNING token, lease_until
