-- A new join; a known id adds nothing. ?1 now, ?2 id, ?3 grouping key or null,
-- ?4 expected steps, ?5 metadata or null, ?6 deadline or null.
-- Runs in a caller's transaction.
INSERT INTO pawl.outbox_join (join_id, grouping_key, expected_steps, metadata, deadline_utc, created_utc, last_updated_utc)
VALUES (?2, ?3, ?4, ?5, ?6, ?1, ?1) ON CONFLICT DO NOTHING
