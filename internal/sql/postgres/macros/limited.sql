-- limited(lane)
-- Do limits hold for a queue's claims? An aggregate of its lanes: there is a limit, or there are
-- messages in the lane of one that was removed.
(coalesce(bool_or({lane}.kind = 3 AND NOT EXISTS (SELECT FROM pawl.outbox_limit) AND EXISTS (SELECT FROM pawl.outbox_ready r WHERE r.lane = {lane}.id)), false) OR EXISTS (SELECT FROM pawl.outbox_limit))
