-- asks(lane)
-- Has a limit's lane messages that are due, while another queue shares the limit, and was it not
-- written within a second that it waits for a place?
(coalesce({lane}.asked, 0) <= @now - 1000000
 AND EXISTS (SELECT 1 FROM pawl.outbox_lane o WHERE o.topic = {lane}.topic AND o.kind = 3 AND o.queue <> {lane}.queue)
 AND EXISTS (SELECT 1 FROM pawl.outbox_ready r WHERE r.lane = {lane}.id AND r.at <= @now AND r.suspect = 0))
