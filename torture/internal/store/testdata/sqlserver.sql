
IF OBJECT_ID(N'pawl.torture_ledger') IS NULL CREATE TABLE pawl.torture_ledger (id nvarchar(200) COLLATE Latin1_General_100_BIN2 PRIMARY KEY, process nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL)
GO
IF OBJECT_ID(N'pawl.torture_effect') IS NULL CREATE TABLE pawl.torture_effect (source nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL, id nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL, process nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL)
GO
IF OBJECT_ID(N'pawl.torture_flow') IS NULL CREATE TABLE pawl.torture_flow (id nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL, what nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL, process nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL)
GO
IF OBJECT_ID(N'pawl.torture_signal') IS NULL CREATE TABLE pawl.torture_signal (id nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL, n bigint NOT NULL, process nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL, PRIMARY KEY (id, n) WITH (IGNORE_DUP_KEY = ON))
GO
IF OBJECT_ID(N'pawl.torture_guard') IS NULL CREATE TABLE pawl.torture_guard (n bigint IDENTITY PRIMARY KEY, name nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL, token bigint NOT NULL)
GO
IF OBJECT_ID(N'pawl.torture_a') IS NULL CREATE TABLE pawl.torture_a (id bigint NOT NULL, n bigint NOT NULL, PRIMARY KEY (id) WITH (IGNORE_DUP_KEY = ON))
GO
IF OBJECT_ID(N'pawl.torture_b') IS NULL CREATE TABLE pawl.torture_b (id bigint NOT NULL, n bigint NOT NULL, PRIMARY KEY (id) WITH (IGNORE_DUP_KEY = ON))
GO
INSERT INTO pawl.torture_a (id, n) VALUES (1, 0), (2, 0), (3, 0), (4, 0) 
GO
INSERT INTO pawl.torture_b (id, n) VALUES (1, 0), (2, 0), (3, 0), (4, 0) 
GO
UPDATE pawl.torture_a SET n = n + 1 WHERE id = @p1
GO
UPDATE pawl.torture_b SET n = n + 1 WHERE id = @p1
GO
INSERT INTO pawl.torture_ledger (id, process) VALUES (@p1, @p2)
GO
UPDATE pawl.torture_a SET n = n + 1 WHERE id = 1
GO
INSERT INTO pawl.torture_effect (source, id, process) VALUES (@p1, @p2, @p3)
GO
INSERT INTO pawl.torture_guard (name, token) VALUES (@p1, @p2)
GO
INSERT INTO pawl.torture_flow (id, what, process) VALUES (@p1, @p2, @p3)
GO
INSERT INTO pawl.torture_ledger (id, process) VALUES (@p1, @p2)
GO
INSERT INTO pawl.torture_signal (id, n, process) VALUES (@p1, @p2, @p3) 
GO
SELECT id FROM pawl.torture_ledger
GO
SELECT LOWER(CONVERT(nvarchar(200), message_id)), status, retry_count FROM pawl.outbox
GO
SELECT source, id, count(*) FROM pawl.torture_effect GROUP BY source, id
GO
SELECT name, token FROM pawl.torture_guard ORDER BY n
GO

SELECT LOWER(CONVERT(nvarchar(200), j.join_id)), j.expected_steps, j.completed_steps, j.failed_steps,
       (SELECT count(*) FROM pawl.outbox_join_waiting w JOIN pawl.outbox o ON o.id = w.id WHERE w.join_id = j.join_id AND o.status = 2)
  FROM pawl.outbox_joins j WHERE coalesce(j.grouping_key, '') = ''
GO

SELECT id, what, LOWER(CONVERT(nvarchar(200), count(*))) FROM pawl.torture_flow GROUP BY id, what
UNION ALL SELECT id, 'signal', LOWER(CONVERT(nvarchar(200), n)) FROM pawl.torture_signal
UNION ALL SELECT LOWER(CONVERT(nvarchar(200), o.message_id)), 'error', o.last_error FROM pawl.outbox o WHERE o.topic = @p1 AND o.status = 3
UNION ALL SELECT LOWER(CONVERT(nvarchar(200), o.message_id)), 'result', pawl.outbox_text(r.result) COLLATE Latin1_General_100_BIN2 FROM pawl.outbox o JOIN pawl.outbox_result r ON r.id = o.id WHERE o.topic = @p2
ORDER BY 1, 2, 3
GO
SELECT LOWER(CONVERT(nvarchar(200), id)) FROM pawl.timers WHERE status NOT IN ('Done', 'Cancelled')
GO
SELECT coalesce(sum(done), 0) FROM pawl.activity WHERE grain = 1
GO
SELECT LOWER(CONVERT(nvarchar(200), id)), job_name, scheduled_time, missed FROM pawl.job_runs WHERE CAST(triggered AS int) = 0 ORDER BY job_name, scheduled_time
GO

SELECT 'messages ready', coalesce(sum(n), 0) FROM pawl.outbox_ready
UNION ALL SELECT 'messages claimed', coalesce(sum(n), 0) FROM pawl.outbox_claimed
UNION ALL SELECT 'timers', count(*) FROM pawl.timer WHERE status < 2
UNION ALL SELECT 'joins', count(*) FROM pawl.outbox_join WHERE status = 0
GO
SELECT coalesce(sum(n), 0) FROM pawl.outbox_ready
GO
