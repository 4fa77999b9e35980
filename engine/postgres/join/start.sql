-- A new join; a known id adds nothing. $1 id, $2 grouping key or null,
-- $3 expected steps, $4 metadata or null, $5 deadline or null.
-- Runs in a caller's transaction.
INSERT INTO pawl.outbox_join (join_id, grouping_key, expected_steps, metadata, deadline_utc) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING
