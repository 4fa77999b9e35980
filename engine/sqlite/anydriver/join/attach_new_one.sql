-- Attach message ?3, which this transaction enqueued at position ?4, to join ?2. ?1 now.
INSERT INTO pawl.outbox_join_member (join_id, outbox_message_id, id, created_utc) VALUES (?2, ?3, ?4, ?1)
