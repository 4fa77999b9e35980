SELECT l.kind AS kind, l.name AS name,
       (SELECT count(*) FROM pawl.outbox_limit_claim u JOIN pawl.claim_table() c ON pawl.covers(pawl.claim_table(), c, u.id) WHERE u.kind = l.kind AND u.name = l.name) AS claimed,
       CAST((SELECT coalesce(sum(x.n), 0)
               FROM (SELECT r.n FROM pawl.outbox_lane q JOIN pawl.outbox_ready r ON r.lane = q.id
                      WHERE l.kind = 'topic' AND q.kind = 3 AND q.topic = l.name AND r.at <= @now pawl.first(1000)) x) AS bigint) AS waiting
  FROM pawl.outbox_limit l ORDER BY l.kind, l.name
