SELECT s.id AS id, s.kind AS kind, s.nr AS nr, s.name AS name, s.retry AS retry, s.signal AS signal, substr(s.result, 1, @cut) AS result, s.created_at AS created_at,
       length(s.result) AS size, NULL AS join_id
  FROM (SELECT x.* FROM pawl.flow_step x WHERE x.id IN (SELECT value FROM json_each(@ids)) AND x.nr >= @from ORDER BY x.nr, x.created_at LIMIT @most) s
UNION ALL
SELECT g.id, -1, g.nr, g.name, 0, g.nr, substr(g.payload, 1, @cut), g.created_at, length(g.payload), NULL
  FROM (SELECT x.* FROM pawl.flow_signal x
         WHERE x.id IN (SELECT value FROM json_each(@ids)) AND (x.id, x.nr) NOT IN (SELECT t.id, t.signal FROM pawl.flow_step t WHERE t.id IN (SELECT value FROM json_each(@ids)))
         ORDER BY x.nr DESC LIMIT @most) g
UNION ALL
SELECT w.id, -2, 0, w.name, w.retry, 0, x'', w.since, 0, NULL FROM pawl.flow_wait w WHERE w.id IN (SELECT value FROM json_each(@ids))
UNION ALL
SELECT w.id, -2, 0, '', 0, 0, x'', j.created_utc, 0, j.join_id FROM pawl.outbox_join_wait w JOIN pawl.outbox_join j ON j.join_id = w.join_id WHERE w.id IN (SELECT value FROM json_each(@ids)) AND j.status = 0
