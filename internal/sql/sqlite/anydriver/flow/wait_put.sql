INSERT INTO pawl.flow_wait (id, name, since) VALUES (@id, @name, @now) ON CONFLICT DO UPDATE SET name = excluded.name, since = excluded.since
