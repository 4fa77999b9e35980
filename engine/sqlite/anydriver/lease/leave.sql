-- Leave the line. ?1 now, ?2 name, ?3 waiter.
DELETE FROM pawl.lease_waiter WHERE name = ?2 AND id = ?3
