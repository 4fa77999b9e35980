-- End a pending join: $1 id, $2 status: 2 failed if its deadline has passed. Rows affected: 0 unknown, 1 ended, 2 not. Runs in a caller's transaction.
SELECT 1 FROM generate_series(1, pawl.outbox_join_end($1, $2))
