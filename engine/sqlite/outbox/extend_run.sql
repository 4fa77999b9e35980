-- Lengthen the lease of the claimed run at ?2. ?1 now, ?3 locked until.
UPDATE pawl.outbox_claim SET locked_until = ?3 WHERE lo = ?2
