INSERT INTO pawl.lease_waiter (name, id, alive_until)
SELECT @name, @waiter, @now + @alive WHERE NOT EXISTS (SELECT 1 FROM pawl.lease WHERE name = @name AND holder = @waiter)
ON CONFLICT (id) DO UPDATE SET alive_until = excluded.alive_until
