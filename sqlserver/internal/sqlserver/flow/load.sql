SELECT s.id AS id, s.kind AS kind, s.nr AS nr, s.name AS name, s.retry AS retry, s.signal AS signal, s.result AS result, s.created_at AS created_at
  FROM OPENJSON(@ids) u INNER LOOP JOIN pawl.flow_step s WITH (FORCESEEK) ON s.id = CAST(u.value AS bigint)
UNION ALL
SELECT g.id, -1, g.nr, g.name, 0, g.nr, g.payload, g.created_at
  FROM OPENJSON(@ids) u INNER LOOP JOIN pawl.flow_signal g WITH (FORCESEEK) ON g.id = CAST(u.value AS bigint)
UNION ALL
SELECT 0, -3, 0, '', 0, 0, 0x, @now
