-- Whoever puts messages in order registers the lane first.
UPDATE pawl.outbox_ready SET lane = (SELECT q.id FROM pawl.outbox_order o JOIN pawl.outbox_lane k ON k.id = o.lane JOIN pawl.outbox_lane q ON q.queue = k.queue AND q.kind = 0 AND q.priority = 0 WHERE o.id = @id)
 WHERE lo = @id AND n = 1
