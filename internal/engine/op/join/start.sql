INSERT INTO pawl.outbox_join (join_id, grouping_key, expected_steps, metadata, deadline_utc, created_utc, last_updated_utc)
VALUES (@join_id, @grouping_key, @expected_steps, @metadata, @deadline_utc, @now, @now) ON CONFLICT DO NOTHING
