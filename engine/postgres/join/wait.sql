-- Note where the wait of a join lies. $1 join, $2 position. Runs in a caller's transaction.
INSERT INTO pawl.outbox_join_wait (id, join_id) VALUES ($2, $1) ON CONFLICT DO NOTHING
