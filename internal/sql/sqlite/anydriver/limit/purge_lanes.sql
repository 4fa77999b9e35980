DELETE FROM pawl.outbox_lane AS q
 WHERE q.kind = 3 AND NOT EXISTS (SELECT 1 FROM pawl.outbox_limit l WHERE l.kind = 'topic' AND l.name = q.topic)
   AND NOT EXISTS (SELECT 1 FROM pawl.outbox_ready r WHERE r.lane = q.id) AND NOT EXISTS (SELECT 1 FROM pawl.outbox_claim c WHERE c.lane = q.id)
