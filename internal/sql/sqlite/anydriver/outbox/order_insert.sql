INSERT INTO pawl.outbox_order (id, lane, "key", head) VALUES (@id, @lane, @key, @head) ON CONFLICT (id) DO NOTHING
