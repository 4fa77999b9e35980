-- lanes_of(queue, wanted)
-- The lanes that a claim takes from, see outbox_claim_runs for what is wanted. Those of limits, of
-- which there may be thousands, are not read for that.
(SELECT l.id, l.priority FROM pawl.outbox_lane l WHERE coalesce({wanted}, 0) = 0 AND l.queue = {queue} AND l.kind = 0
 UNION ALL SELECT l.id, l.priority FROM pawl.outbox_lane l WHERE l.id = {wanted})
