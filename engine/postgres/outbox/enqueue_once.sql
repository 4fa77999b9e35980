-- Messages of which some bring an id of their own. $1 … $9 as in enqueue;
-- $10 supplied, $11 the position that a made id carries, or 0. Rows affected are the
-- new messages. Runs in a caller's transaction.
SELECT 1 FROM generate_series(1, pawl.outbox_enqueue_once($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11))
