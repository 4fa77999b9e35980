-- ready_at(lane, due, now, group)
-- When a message becomes ready that is enqueued to a lane: with an ordering key always at the time of
-- its key's group unless it is due later, so that a clock that is set back changes no order.
coalesce({due}, CASE WHEN EXISTS (SELECT 1 FROM pawl.outbox_lane l WHERE l.id = {lane} AND l.kind = 1) THEN {group} ELSE {now} END)
