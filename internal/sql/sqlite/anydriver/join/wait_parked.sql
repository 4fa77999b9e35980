INSERT INTO pawl.outbox_join_wait (id, join_id) VALUES (@id, @join_id) ON CONFLICT DO UPDATE SET join_id = excluded.join_id
