-- timer_waits(position, mid)
-- Whether an id that pawl made is that of a timer which is yet to become a message.
EXISTS (SELECT FROM pawl.timer t WHERE t.id = {position} AND t.timer_id = {mid} AND t.status < 2)
