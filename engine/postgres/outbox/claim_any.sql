-- Claim due messages, suspects or others, nothing of a paused queue. Parameters and
-- rows as in claim.
SELECT id, message_id, topic, correlation_id, headers, payload, created_at, due_at, retry, $1::text, priority, locked_until, at, length
  FROM pawl.outbox_claim_any($1, $2, $3, $4, $5, $6)
 WHERE NOT EXISTS (SELECT FROM pawl.outbox_pause p WHERE p.kind = 'queue' AND p.name = $1)
