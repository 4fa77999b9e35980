INSERT INTO pawl.outbox_limit_claim (kind, name, id) VALUES (@kind, @name, @id) ON CONFLICT DO NOTHING
