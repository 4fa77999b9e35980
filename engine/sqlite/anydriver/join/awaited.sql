-- Does any join wait for messages at ?2 … ?3 (exclusive)? Asked at every ack, so
-- it is one probe of one index.
SELECT 1 FROM pawl.outbox_join_member INDEXED BY pawl.outbox_join_member_place WHERE status = 0 AND id >= ?2 AND id < ?3 LIMIT 1
