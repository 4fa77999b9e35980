INSERT INTO pawl.audit_trail (id, at, actor, action, target, reason, n) VALUES (@id, @now, @actor, @action, @target, @reason, @n)
ON CONFLICT (id) DO UPDATE SET n = n + excluded.n
