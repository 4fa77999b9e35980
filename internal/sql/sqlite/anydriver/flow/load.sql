SELECT s.id AS id, s.kind AS kind, s.nr AS nr, s.name AS name, s.retry AS retry, s.signal AS signal, s.result AS result, s.created_at AS created_at FROM pawl.flow_step s WHERE s.id IN (SELECT value FROM json_each(@ids))
UNION ALL
SELECT g.id, -1, g.nr, g.name, 0, g.nr, g.payload, g.created_at FROM pawl.flow_signal g WHERE g.id IN (SELECT value FROM json_each(@ids))
UNION ALL
SELECT 0, -3, 0, '', 0, 0, x'', @now
