-- The engine adds @from: see tune.go. What waits for a limit's rate is due when that allows it.
SELECT pawl.micros(CASE WHEN q.next_at > d.at THEN q.next_at ELSE d.at END - @now) AS micros
  FROM (SELECT min(CASE WHEN t.next_at > x.at THEN t.next_at ELSE x.at END) AS at
          FROM (SELECT l.topic, (SELECT r.at FROM pawl.outbox_ready r WHERE r.lane = l.id AND r.at >= CASE WHEN l.kind = 1 THEN timestamptz '-infinity' ELSE @from END AND r.suspect = 0 ORDER BY r.at LIMIT 1) AS at
                  FROM pawl.outbox_lane l WHERE l.queue = @queue AND l.kind <> 2 AND NOT pawl.paused(@queue)) x
          LEFT JOIN pawl.outbox_limit t ON t.kind = 'topic' AND t.name = x.topic) d
  LEFT JOIN pawl.outbox_limit q ON q.kind = 'queue' AND q.name = @queue
