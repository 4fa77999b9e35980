SELECT l.kind AS kind, l.name AS name,
       (SELECT COUNT_BIG(*) FROM pawl.outbox_limit_claim u pawl.unlocked()
         WHERE u.of_limit = l.seq AND coalesce((SELECT TOP (1) c.lo + c.n FROM pawl.outbox_claimed c pawl.unlocked() WHERE c.lo <= u.id ORDER BY c.lo DESC), 0) > u.id) AS claimed,
       CAST((SELECT coalesce(SUM(x.n), 0)
               FROM (SELECT TOP (1000) r.n FROM pawl.outbox_lane q INNER JOIN pawl.outbox_ready r pawl.unlocked() ON r.lane = q.id
                      WHERE l.kind = N'topic' AND q.kind = 3 AND pawl.exactly(q.topic, l.name) AND r.at <= @now) x) AS bigint) AS waiting
  FROM pawl.outbox_limit l ORDER BY l.kind, l.name
