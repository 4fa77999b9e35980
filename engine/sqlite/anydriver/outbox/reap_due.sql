-- Has any lease run out? Asked without the write lock. ?1 now.
SELECT 1 FROM pawl.outbox_claim WHERE locked_until < ?1 LIMIT 1
