-- Drop from the line whoever was served or died. ?1 now, ?2 name.
DELETE FROM pawl.lease_waiter WHERE name = ?2 AND (alive_until <= ?1 OR id = (SELECT holder FROM pawl.lease_row WHERE name = ?2))
