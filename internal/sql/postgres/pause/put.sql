WITH put AS (
  INSERT INTO pawl.outbox_pause AS p (kind, name, lane, reason, actor) VALUES (@kind, @name, @lane, @reason, @note_actor)
  ON CONFLICT (kind, name) DO UPDATE SET ending = false, at = excluded.at, reason = excluded.reason, actor = excluded.actor WHERE p.ending RETURNING 1)
SELECT pawl.audit_note(@note_id, @note_actor, 'pause', @note_target, @note_reason, (SELECT count(*) FROM put))
