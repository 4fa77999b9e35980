-- An attempt failed. $1 source, $2 message id, $3 hash, $4 token, or null for one
-- whose transaction was rolled back, $5 error, $6 for good, $7 most attempts.
-- Rows affected: 0 not the caller's, 1 may be tried again, 2 dead.
SELECT 1 FROM generate_series(1, pawl.inbox_fail_row($1, $2, $3, $4, $5, $6, $7))
