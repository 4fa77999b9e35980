-- Claim due messages, nothing of a paused queue. $1 queue, $2 owner, $3 lease, $4
-- how many; the engine adds $5, how many ready rows will probably do, and $6,
-- where to begin, for which it takes a fifth parameter of the call: whether a
-- worker loop claims, which comes again at once.
SELECT id, message_id, topic, correlation_id, headers, payload, created_at, due_at, retry, $1::text, priority, locked_until, at, length
  FROM pawl.outbox_claim_runs($1, $2, $3, $4, $5, $6)
 WHERE NOT EXISTS (SELECT FROM pawl.outbox_pause p WHERE p.kind = 'queue' AND p.name = $1)
