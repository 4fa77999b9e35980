-- Attach messages; those already settled are counted at once. $1 join,
-- $2 message ids. Rows affected: 0 attached, 1 unknown join, 1 + i the i-th
-- message is unknown; then nothing was attached. Runs in a caller's transaction.
SELECT 1 FROM generate_series(1, pawl.outbox_join_attach_all($1, $2))
