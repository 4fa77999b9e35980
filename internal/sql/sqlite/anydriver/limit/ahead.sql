SELECT 1 AS found
  FROM (SELECT x.id, x.queue, x.priority, x.asked, (SELECT r.at FROM pawl.outbox_ready r WHERE r.lane = x.id AND r.at <= @now AND r.suspect = 0 ORDER BY r.at LIMIT 1) AS head
          FROM pawl.outbox_lane x WHERE x.topic = @topic AND x.kind = 3 AND x.queue <> @queue) o
 WHERE (o.asked > @now - 3000000
     OR EXISTS (SELECT 1 FROM pawl.outbox_limit f WHERE f.kind = 'topic' AND f.name = @topic AND f.rate IS NOT NULL AND @now < f.next_at + 3000000
                   AND o.asked > f.next_at - f.period * f.burst / f.rate - 3000000))
   AND o.head IS NOT NULL
   AND (o.head >= @late, CASE WHEN o.head < @late THEN 0 ELSE o.priority END, o.head, o.id) < (@at >= @late, CASE WHEN @at < @late THEN 0 ELSE @priority END, @at, @lane)
   AND NOT pawl.paused(o.queue) LIMIT 1
