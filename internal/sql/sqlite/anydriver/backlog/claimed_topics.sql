SELECT lane, topic, count(*) AS n FROM (
  SELECT c.lane, m.topic FROM (SELECT lane, lo, n FROM pawl.outbox_claim ORDER BY lo LIMIT @runs) c
  CROSS JOIN pawl.outbox_message m WHERE m.id >= c.lo AND m.id < c.lo + c.n LIMIT @messages)
 GROUP BY lane, topic
