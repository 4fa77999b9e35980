-- Pause: $1 kind, $2 name, $3 lane, $4 reason or null; of the audit: $5 id, $6 actor, $7 target, $8 reason.
-- Answers 1, or 0 if it was paused before.
WITH put AS (
  INSERT INTO pawl.outbox_pause AS p (kind, name, lane, reason, actor) VALUES ($1, $2, $3, $4, $6)
  ON CONFLICT (kind, name) DO UPDATE SET ending = false, at = excluded.at, reason = excluded.reason, actor = excluded.actor WHERE p.ending RETURNING 1)
SELECT pawl.audit_note($5, $6, 'pause', $7, $8, (SELECT count(*) FROM put))
