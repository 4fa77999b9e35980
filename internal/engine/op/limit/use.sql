SELECT x.kind AS kind, x.name AS name, CAST(sum(x.claimed) AS bigint) AS claimed, CAST(sum(x.waiting) AS bigint) AS waiting, coalesce(pawl.elapsed(min(x.oldest), @now), 0) AS micros
  FROM (SELECT CASE WHEN l.pattern = '' THEN l.kind ELSE 'each' END AS kind, CASE WHEN l.pattern = '' THEN l.name ELSE l.pattern END AS name,
               pawl.limit_claimed(l) AS claimed,
               (SELECT coalesce(sum(w.n), 0)
                  FROM (SELECT r.n FROM pawl.outbox_lane q JOIN pawl.outbox_ready r ON r.lane = q.id
                         WHERE l.kind = 'topic' AND q.kind = 3 AND q.topic = l.name AND r.at <= @now pawl.first(1000)) w) AS waiting,
               (SELECT min((SELECT min(r.at) FROM pawl.outbox_ready r WHERE r.lane = q.id))
                  FROM pawl.outbox_lane q WHERE l.kind = 'topic' AND q.kind = 3 AND q.topic = l.name) AS oldest
          FROM pawl.outbox_limit l) x
 GROUP BY x.kind, x.name ORDER BY x.kind, x.name
