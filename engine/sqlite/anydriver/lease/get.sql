-- A lease. ?1 now, ?2 name. Name, owner, token, end, last granted, held, and how many wait.
SELECT l.name, l.owner, l.token, l.lease_until, l.last_granted, coalesce(l.lease_until > ?1, 0),
       (SELECT count(*) FROM pawl.lease_waiter w WHERE w.name = l.name AND w.alive_until > ?1)
  FROM pawl.lease_row l WHERE l.name = ?2
