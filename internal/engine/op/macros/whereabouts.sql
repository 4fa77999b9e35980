-- whereabouts(timer, carried)
-- The position of a timer: the one that its id carries, or that of the timer with this supplied id.
coalesce((SELECT x.id FROM pawl.timer x WHERE x.id = {carried} AND x.timer_id = {timer}), (SELECT x.id FROM pawl.timer x WHERE x.timer_id = {timer} AND pawl.supplied(x)))
