WITH m AS (SELECT x.id FROM pawl.outbox_message x WHERE x.id > @after AND x.id <= (SELECT max(y.id) FROM (SELECT z.id FROM pawl.outbox_message z WHERE z.id > @after ORDER BY z.id pawl.limit(@look)) y))
SELECT p.id, p.nowhere FROM (SELECT m.id, pawl.truth(pawl.nowhere(m.id)) AS nowhere FROM m) p
 WHERE pawl.is(p.nowhere) OR p.id = (SELECT max(m.id) FROM m) ORDER BY p.id
