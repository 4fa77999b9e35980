SELECT 1 AS found FROM pawl.outbox_lane l
 WHERE l.queue = @queue AND l.kind IN (0, 3) AND EXISTS (SELECT 1 FROM pawl.outbox_ready r INDEXED BY pawl.outbox_ready_suspect WHERE r.lane = l.id AND r.suspect > 0 AND r.at <= @now)
   AND NOT pawl.paused(@queue) LIMIT 1
