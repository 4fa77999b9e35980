-- whereabouts(timer, carried)
-- Where a timer lies: at the position that its id carries, or it is found by its mark.
coalesce((SELECT x.id FROM pawl.timer x WHERE x.id = {carried} AND x.timer_id = {timer}), (SELECT x.id FROM pawl.timer x WHERE x.timer_id = {timer} AND pawl.supplied(x)))
