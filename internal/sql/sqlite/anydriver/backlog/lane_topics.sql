SELECT topic, count(*) AS n, min(at) AS since FROM (
  SELECT m.topic, coalesce(pawl.planned(r.at), m.created_at) AS at FROM (
    SELECT at, lo, n FROM pawl.outbox_ready WHERE lane = @lane AND at > @after AND at <= @by ORDER BY at, lo LIMIT @runs) r
  CROSS JOIN pawl.outbox_message m WHERE m.id >= r.lo AND m.id < r.lo + r.n LIMIT @messages)
 GROUP BY topic
