SELECT N'messages' AS what, N'failed' AS which, COUNT_BIG(*) AS n, CAST(NULL AS bigint) AS micros
  FROM (SELECT TOP (@most) e.id FROM pawl.outbox_exception e pawl.unlocked() WHERE e.status >= 3 AND e.status = 3) x
UNION ALL
SELECT N'joins', s.name, (SELECT COUNT_BIG(*) FROM (SELECT TOP (@most) j.seq FROM pawl.outbox_join j pawl.unlocked() WHERE j.status = s.status) x), NULL
  FROM (VALUES (0, N'0'), (1, N'1'), (2, N'2'), (3, N'3')) s(status, name)
UNION ALL
SELECT N'timers', N'due', COUNT_BIG(*), pawl.elapsed(MIN(x.at), @began)
  FROM (SELECT TOP (@most) t.at FROM pawl.timer t pawl.unlocked() WHERE t.status = 0 AND t.at <= pawl.minus(@began, @age) ORDER BY t.at) x
UNION ALL
SELECT N'timers', N'scheduled', COUNT_BIG(*), NULL FROM (SELECT TOP (@most) t.at FROM pawl.timer t pawl.unlocked() WHERE t.status = 0 AND t.at > @began ORDER BY t.at) x
UNION ALL
SELECT N'timers', N'expired', COUNT_BIG(*), pawl.elapsed(MIN(x.locked_until), @began)
  FROM (SELECT TOP (@most) t.locked_until FROM pawl.timer t pawl.unlocked() WHERE t.status = 1) x WHERE x.locked_until < pawl.minus(@began, @age)
UNION ALL
SELECT N'jobs', N'due', COUNT_BIG(*), pawl.elapsed(MIN(x.due_at), @began)
  FROM (SELECT TOP (@most) j.due_at FROM pawl.job j pawl.unlocked() WHERE j.due_at IS NOT NULL AND j.enabled = 1 AND j.due_at <= pawl.minus(@began, @age) ORDER BY j.due_at) x
UNION ALL
SELECT N'pauses', k.kind, (SELECT COUNT_BIG(*) FROM (SELECT TOP (@most) p.seq FROM pawl.outbox_pause p pawl.unlocked() WHERE p.kind = k.kind AND p.ending = 0) x), NULL
  FROM (SELECT v.kind COLLATE Latin1_General_100_BIN2 AS kind FROM (VALUES (N'queue'), (N'topic')) v(kind)) k
UNION ALL
SELECT N'workers', N'', COUNT_BIG(*), NULL FROM (SELECT TOP (@most) w.seq FROM pawl.worker_process w pawl.unlocked() WHERE w.expires_at > @now) x
