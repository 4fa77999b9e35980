SELECT u.id AS id, u.message_id AS message_id, u.enqueued_at AS enqueued_at,
       EXISTS (SELECT 1 FROM pawl.outbox_ready r WHERE pawl.covers(pawl.outbox_ready, r, u.id)) AS waits,
       EXISTS (SELECT 1 FROM pawl.outbox_claim c WHERE pawl.covers(pawl.outbox_claim, c, u.id)) AS runs
  FROM pawl.outbox_unique u WHERE u.key = @key
