-- Take a message to process it. $1 source, $2 message id, $3 hash or null,
-- $4 token, $5 lease, or null to hold it for this transaction, $6 most attempts
-- (0: any), $7 whether an attempt that did not end is not counted again. Rows affected: 1 taken, otherwise as see. Runs in a caller's transaction.
SELECT 1 FROM generate_series(1, pawl.inbox_take($1, $2, $3, $4, $5, $6, $7))
