-- Lengthen a lease. ?1 now, ?2 name, ?3 holder, ?4 lease. One row, the new end, or none: it is not the holder's.
UPDATE pawl.lease_row SET lease_until = ?1 + ?4 WHERE name = ?2 AND holder = ?3 AND lease_until > ?1 RETURNING lease_until
