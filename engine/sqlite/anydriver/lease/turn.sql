-- May a waiter go? ?1 now, ?2 name, ?3 waiter. Whether it is in line, how many
-- stand before it, and for how many microseconds the lease is still held.
SELECT EXISTS (SELECT 1 FROM pawl.lease_waiter WHERE id = ?3 AND alive_until > ?1),
       (SELECT count(*) FROM pawl.lease_waiter WHERE name = ?2 AND alive_until > ?1 AND ticket < (SELECT m.ticket FROM pawl.lease_waiter m WHERE m.id = ?3)),
       coalesce((SELECT max(0, lease_until - ?1) FROM pawl.lease_row WHERE name = ?2), 0)
