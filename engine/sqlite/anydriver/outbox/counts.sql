-- How many messages lie where. Sums over runs, never over messages. ?1 now.
SELECT coalesce((SELECT sum(n) FROM pawl.outbox_ready WHERE at <= ?1), 0),
       coalesce((SELECT sum(n) FROM pawl.outbox_ready WHERE at > ?1), 0),
       coalesce((SELECT sum(n) FROM pawl.outbox_claim), 0),
       coalesce((SELECT sum(n) FROM pawl.outbox_done), 0),
       (SELECT count(*) FROM pawl.outbox_exception WHERE status >= 3 AND status = 3),
       (SELECT count(*) FROM pawl.outbox_exception WHERE status >= 3 AND status = 4)
