-- Take a claimed run away. ?1 now, ?2 lo.
DELETE FROM pawl.outbox_claim WHERE lo = ?2
