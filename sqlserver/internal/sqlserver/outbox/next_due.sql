-- What waits for a limit's rate is due when that allows it.
SELECT pawl.elapsed(@now, CASE WHEN q.next_at > d.at THEN q.next_at ELSE d.at END) AS micros
  FROM (SELECT MIN(CASE WHEN t.next_at > f.at THEN t.next_at ELSE f.at END) AS at
          FROM pawl.outbox_lane l CROSS APPLY (SELECT TOP (1) r.at FROM pawl.outbox_ready r WHERE r.lane = l.id AND r.suspect = 0 ORDER BY r.at) f
          LEFT JOIN pawl.outbox_limit t ON t.kind = N'topic' AND pawl.exactly(t.name, l.topic)
         WHERE pawl.exactly(l.queue, @queue) AND l.kind <> 2 AND NOT pawl.paused(@queue)) d
  LEFT JOIN pawl.outbox_limit q ON q.kind = N'queue' AND pawl.exactly(q.name, @queue)
