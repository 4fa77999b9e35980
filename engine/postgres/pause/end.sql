-- End a pause: $1 kind, $2 name; of the audit: $3 id, $4 actor, $5 target, $6 reason. A
-- queue's is over then; what was laid aside of a topic has yet to come back
-- (pause/unpark). Answers 1, or 0 if it was not paused.
WITH topic AS (
  UPDATE pawl.outbox_pause SET ending = true WHERE kind = $1 AND name = $2 AND kind = 'topic' RETURNING 1),
queue AS (
  DELETE FROM pawl.outbox_pause WHERE kind = $1 AND name = $2 AND kind = 'queue' RETURNING name)
SELECT pawl.audit_note($3, $4, 'resume', $5, $6, (SELECT count(*) FROM topic) + (SELECT count(*) FROM queue WHERE pawl.outbox_wake(ARRAY[queue.name])))
