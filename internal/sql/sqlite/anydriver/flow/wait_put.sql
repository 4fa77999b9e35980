INSERT INTO pawl.flow_wait (id, name, since, retry) VALUES (@id, @name, @now, @retry) ON CONFLICT DO UPDATE SET name = excluded.name, since = excluded.since, retry = excluded.retry
