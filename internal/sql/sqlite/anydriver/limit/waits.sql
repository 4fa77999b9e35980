SELECT 1 AS found FROM pawl.outbox_lane o WHERE o.topic = @topic AND o.kind = 3
   AND EXISTS (SELECT 1 FROM pawl.outbox_ready r WHERE r.lane = o.id AND r.at <= @now) LIMIT 1
