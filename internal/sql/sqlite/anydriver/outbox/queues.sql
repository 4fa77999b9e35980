SELECT queue AS queue FROM pawl.outbox_lane UNION SELECT q.value FROM pawl.worker_process p, json_each(p.queues) q
