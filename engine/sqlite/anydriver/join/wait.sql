-- Note that the wait of join ?2 lies at ?3. Runs in a caller's transaction.
INSERT INTO pawl.outbox_join_wait (id, join_id) VALUES (?3, ?2) ON CONFLICT DO NOTHING
