SELECT s.id AS id, s.kind AS kind, s.nr AS nr, s.name AS name, s.retry AS retry, s.signal AS signal, SUBSTRING(s.result, 1, @cut) AS result, s.created_at AS created_at,
       CAST(DATALENGTH(s.result) AS int) AS size, CAST(NULL AS uniqueidentifier) AS join_id
  FROM (SELECT TOP (@most) x.* FROM OPENJSON(@ids) u INNER LOOP JOIN pawl.flow_step x WITH (FORCESEEK) ON x.id = CAST(u.value AS bigint) WHERE x.nr >= @from ORDER BY x.nr, x.created_at) s
UNION ALL
SELECT g.id, -1, g.nr, g.name, 0, g.nr, SUBSTRING(g.payload, 1, @cut), g.created_at, CAST(DATALENGTH(g.payload) AS int), NULL
  FROM (SELECT TOP (@most) x.* FROM OPENJSON(@ids) u INNER LOOP JOIN pawl.flow_signal x WITH (FORCESEEK) ON x.id = CAST(u.value AS bigint)
         WHERE NOT EXISTS (SELECT 1 FROM pawl.flow_step t WHERE t.id = x.id AND t.signal = x.nr) ORDER BY x.nr DESC) g
UNION ALL
SELECT w.id, -2, 0, w.name, w.retry, 0, 0x, w.since, 0, NULL
  FROM OPENJSON(@ids) u INNER LOOP JOIN pawl.flow_wait w WITH (FORCESEEK) ON w.id = CAST(u.value AS bigint)
UNION ALL
SELECT w.id, -2, 0, '', 0, 0, 0x, j.created_utc, 0, j.join_id
  FROM OPENJSON(@ids) u INNER LOOP JOIN pawl.wait_table() w ON w.id = CAST(u.value AS bigint) INNER LOOP JOIN pawl.outbox_join j ON j.join_id = w.join_id WHERE j.status = 0
