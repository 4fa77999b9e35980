-- Give a dead message a fresh start, and the queue's of it. $1 source, $2 message
-- id, $3 id in the queue; of the audit: $4 id, $5 actor, $6 target, $7 reason. One
-- row if it was dead.
WITH r AS (
  UPDATE pawl.inbox SET status = 'Seen', attempts = 0 WHERE source = $1 AND message_id = $2 AND status = 'Dead' RETURNING 1)
SELECT pawl.outbox_redrive(ARRAY[pawl.outbox_position($3)]), pawl.audit_note($4, $5, 'revive', $6, $7, 1) FROM r
