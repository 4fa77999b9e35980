SELECT s.id AS id, s.kind AS kind, s.nr AS nr, s.name AS name, s.retry AS retry, s.signal AS signal, pg_catalog.substr(s.result, 1, @cut) AS result, s.created_at AS created_at,
       pg_catalog.octet_length(s.result) AS size, NULL::pg_catalog.uuid AS join_id
  FROM (SELECT x.* FROM pawl.flow_step x WHERE x.id = ANY (@ids) AND x.nr >= @from ORDER BY x.nr, x.created_at LIMIT @most) s
UNION ALL
SELECT g.id, -1, g.nr, g.name, 0, g.nr, pg_catalog.substr(g.payload, 1, @cut), g.created_at, pg_catalog.octet_length(g.payload), NULL
  FROM (SELECT x.* FROM pawl.flow_signal x WHERE x.id = ANY (@ids) AND (x.id, x.nr) NOT IN (SELECT t.id, t.signal FROM pawl.flow_step t WHERE t.id = ANY (@ids))
         ORDER BY x.nr DESC LIMIT @most) g
UNION ALL
SELECT w.id, -2, 0, w.name, w.retry, 0, ''::pg_catalog.bytea, w.since, 0, NULL FROM pawl.flow_wait w WHERE w.id = ANY (@ids)
UNION ALL
SELECT w.id, -2, 0, '', 0, 0, ''::pg_catalog.bytea, j.created_utc, 0, j.join_id FROM pawl.outbox_join_wait w JOIN pawl.outbox_join j ON j.join_id = w.join_id WHERE w.id = ANY (@ids) AND j.status = 0
