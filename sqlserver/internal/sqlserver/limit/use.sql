SELECT x.kind AS kind, x.name AS name, SUM(x.claimed) AS claimed, CAST(SUM(x.waiting) AS bigint) AS waiting, coalesce(pawl.elapsed(MIN(x.oldest), @now), 0) AS micros
  FROM (SELECT CASE WHEN l.pattern = N'' THEN l.kind ELSE N'each' END AS kind, CASE WHEN l.pattern = N'' THEN l.name ELSE l.pattern END AS name, a.claimed AS claimed, b.waiting AS waiting, c.oldest AS oldest
          FROM pawl.outbox_limit l
         CROSS APPLY (SELECT pawl.limit_claimed(l) AS claimed) a
         CROSS APPLY (SELECT coalesce(SUM(w.n), 0) AS waiting
                        FROM (SELECT TOP (1000) r.n FROM pawl.outbox_lane q INNER JOIN pawl.outbox_ready r pawl.unlocked() ON r.lane = q.id
                               WHERE l.kind = N'topic' AND q.kind = 3 AND pawl.exactly(q.topic, l.name) AND r.at <= @now) w) b
         CROSS APPLY (SELECT MIN(w.at) AS oldest
                        FROM pawl.outbox_lane q
                       CROSS APPLY (SELECT TOP (1) r.at FROM pawl.outbox_ready r pawl.unlocked() WHERE r.lane = q.id ORDER BY r.at) w
                       WHERE l.kind = N'topic' AND q.kind = 3 AND pawl.exactly(q.topic, l.name)) c) x
 GROUP BY x.kind, x.name, DATALENGTH(x.name) ORDER BY x.kind, x.name
