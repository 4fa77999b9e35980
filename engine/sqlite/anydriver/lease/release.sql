-- Give a lease back if it is still the holder's. ?1 now, ?2 name, ?3 holder.
UPDATE pawl.lease_row SET owner = NULL, holder = NULL, lease_until = NULL WHERE name = ?2 AND holder = ?3
