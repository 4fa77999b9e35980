-- Leases in order of name. ?1 now, ?2 after this name, ?3 held ones only, ?4 how many. Columns as in get.
SELECT l.name, l.owner, l.token, l.lease_until, l.last_granted, coalesce(l.lease_until > ?1, 0),
       (SELECT count(*) FROM pawl.lease_waiter w WHERE w.name = l.name AND w.alive_until > ?1)
  FROM pawl.lease_row l WHERE l.name > ?2 AND (NOT ?3 OR l.lease_until > ?1) ORDER BY l.name LIMIT ?4
