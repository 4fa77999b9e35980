-- Runs without the write lock before every claim, so that an idle worker never delays a
-- writer.
SELECT 1 AS found FROM pawl.outbox_lane l
 WHERE l.queue = @queue AND l.kind <> 2 AND EXISTS (SELECT 1 FROM pawl.outbox_ready r WHERE r.lane = l.id AND r.at <= @now AND (@suspects OR r.suspect = 0))
   AND (l.kind <> 3 OR NOT pawl.full_limit('topic', l.topic) OR pawl.asks(l)) AND NOT pawl.full_limit('queue', @queue) AND NOT pawl.paused(@queue) LIMIT 1
