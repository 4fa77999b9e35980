-- Keep a lease from changing hands until the transaction ends: that it writes
-- is enough, there is one writer. ?1 now, ?2 name, ?3 holder, ?4 token. One row
-- affected, or none: it is not the holder's. Runs in a caller's transaction.
UPDATE pawl.lease_row SET token = token WHERE name = ?2 AND holder = ?3 AND token = ?4 AND lease_until > ?1
