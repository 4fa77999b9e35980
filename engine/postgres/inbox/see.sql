-- Note a delivery. $1 source, $2 message id, $3 hash or null. Rows affected: 0 it
-- may be processed, 2 done, 3 dead, 4 another hash, 5 in progress. Runs in a
-- caller's transaction.
SELECT 1 FROM generate_series(1, pawl.inbox_see($1, $2, $3))
