SELECT u.id AS id, u.message_id AS message_id, u.enqueued_at AS enqueued_at,
       pawl.holds(pawl.outbox_ready, u.id) AS waits,
       pawl.holds(pawl.outbox_claim, u.id) AS runs
  FROM pawl.outbox_unique u WHERE u.key = @key
