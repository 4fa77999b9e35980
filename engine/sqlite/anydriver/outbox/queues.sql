-- Queues that are known: of lanes, and of workers. ?1 now.
SELECT queue FROM pawl.outbox_lane UNION SELECT q.value FROM pawl.worker_process p, json_each(p.queues) q
