-- limited(queue)
-- Do limits hold for a queue's claims? There is a limit, or there are messages in the lane of one
-- that was removed. For the hints see under_limit.
(EXISTS (SELECT 1 FROM pawl.outbox_limit f WITH (READPAST, READCOMMITTEDLOCK, INDEX (name)))
 OR EXISTS (SELECT 1 FROM pawl.outbox_lane v WHERE pawl.exactly(v.queue, {queue}) AND v.kind = 3
               AND EXISTS (SELECT 1 FROM pawl.outbox_ready w pawl.unlocked() WHERE w.lane = v.id)))
