-- Pause. ?1 now, ?2 kind, ?3 name, ?4 lane, ?5 reason or null, ?6 actor.
INSERT INTO pawl.outbox_pause (kind, name, lane, at, reason, actor) VALUES (?2, ?3, ?4, ?1, ?5, ?6)
ON CONFLICT (kind, name) DO UPDATE SET ending = 0, at = excluded.at, reason = excluded.reason, actor = excluded.actor WHERE ending
