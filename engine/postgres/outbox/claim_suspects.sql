-- Claim due suspects, nothing of a paused queue. $1 queue, $2 owner, $3 lease, $4
-- how many. Rows as in claim.
SELECT id, message_id, topic, correlation_id, headers, payload, created_at, due_at, retry, $1::text, priority, locked_until
  FROM pawl.outbox_claim_suspects($1, $2, $3, $4)
 WHERE NOT EXISTS (SELECT FROM pawl.outbox_pause p WHERE p.kind = 'queue' AND p.name = $1)
