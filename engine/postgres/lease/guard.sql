-- Keep a lease from changing hands until the transaction ends. $1 name,
-- $2 holder, $3 token. One row, or none: it is not the holder's. Runs in a
-- caller's transaction.
SELECT 1 FROM pawl.lease_guard_row($1, $2, $3)
