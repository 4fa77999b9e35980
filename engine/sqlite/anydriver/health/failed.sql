-- How many messages failed for good, counted up to ?2. ?1 now.
SELECT count(*) FROM (SELECT 1 FROM pawl.outbox_exception WHERE status >= 3 AND status = 3 AND ?1 > 0 LIMIT ?2)
