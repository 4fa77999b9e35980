SELECT s.id AS id, s.kind AS kind, s.nr AS nr, s.name AS name, s.retry AS retry, s.signal AS signal, s.result AS result, s.created_at AS created_at
  FROM pg_catalog.unnest(@ids) u(id) CROSS JOIN LATERAL (SELECT * FROM pawl.flow_step x WHERE x.id = u.id OFFSET 0) s
UNION ALL
SELECT g.id, -1, g.nr, g.name, 0, g.nr, g.payload, g.created_at
  FROM pg_catalog.unnest(@ids) u(id) CROSS JOIN LATERAL (SELECT * FROM pawl.flow_signal x WHERE x.id = u.id OFFSET 0) g
UNION ALL
SELECT 0, -3, 0, '', 0, 0, ''::pg_catalog.bytea, @now
