-- Runs with every ack, so it is one probe of one index.
SELECT 1 FROM pawl.outbox_join_member INDEXED BY pawl.outbox_join_member_place WHERE status = 0 AND id >= @lo AND id < @end LIMIT 1
