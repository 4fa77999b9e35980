-- ordered(lane)
-- Are messages of a lane to be put in order?
EXISTS (SELECT 1 FROM pawl.outbox_lane l WHERE l.id = {lane} AND l.kind = 1)
