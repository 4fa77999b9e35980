INSERT INTO pawl.outbox_pause (kind, name, lane, at, reason, actor) VALUES (@kind, @name, @lane, @now, @reason, @actor)
ON CONFLICT (kind, name) DO UPDATE SET ending = 0, at = excluded.at, reason = excluded.reason, actor = excluded.actor WHERE ending
