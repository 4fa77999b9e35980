-- The lanes and topics of the first ?3 messages of the first ?2 claimed runs. ?1 now.
SELECT lane, topic, count(*) FROM (
  SELECT c.lane, m.topic FROM (SELECT lane, lo, n FROM pawl.outbox_claim ORDER BY lo LIMIT ?2) c
  CROSS JOIN pawl.outbox_message m WHERE m.id >= c.lo AND m.id < c.lo + c.n LIMIT ?3)
 GROUP BY lane, topic
