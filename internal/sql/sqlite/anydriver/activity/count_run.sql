WITH named AS MATERIALIZED (
  SELECT k.*, dense_rank() OVER (PARTITION BY k.known ORDER BY k.queue, k.topic) AS nr FROM (
    SELECT m.queue, m.topic, m.created, m.n,
           EXISTS (SELECT 1 FROM pawl.activity a WHERE a.grain = 1 AND a.minute = @minute AND a.queue = m.queue AND a.topic = m.topic AND a.worker = @worker) AS known
      FROM (SELECT coalesce(l.queue, '') AS queue, x.topic, pawl.minute(x.created_at) AS created, count(*) AS n
              FROM pawl.outbox_message x LEFT JOIN pawl.outbox_lane l ON l.id = x.lane WHERE x.id >= @lo AND x.id < @end GROUP BY 1, 2, 3) m) k),
room AS MATERIALIZED (
  SELECT CASE WHEN min(k.known) OR EXISTS (SELECT 1 FROM pawl.activity a WHERE a.grain = 1 AND a.minute = @minute AND a.queue = '' AND a.topic = '' AND a.worker = @worker) THEN 0
              ELSE 200 - (SELECT count(*) FROM pawl.activity a WHERE a.grain = 1 AND a.minute = @minute AND a.worker = @worker) END AS n FROM named k),
cell AS (
  SELECT CASE WHEN x.own THEN x.queue ELSE '' END AS queue, CASE WHEN x.own THEN x.topic ELSE '' END AS topic, x.created, sum(x.n) AS n
    FROM (SELECT k.*, k.known OR k.nr <= (SELECT room.n FROM room) AS own FROM named k) x GROUP BY 1, 2, 3)
INSERT INTO pawl.activity AS a (grain, minute, queue, topic, worker, done, retried, failed, expired, unhandled, waits, takes, created, errors)
SELECT 1, @minute, s.queue, s.topic, @worker, CASE @outcome WHEN 'done' THEN s.n ELSE 0 END, CASE @outcome WHEN 'retried' THEN s.n ELSE 0 END,
       CASE @outcome WHEN 'failed' THEN s.n ELSE 0 END, CASE @outcome WHEN 'expired' THEN s.n ELSE 0 END, 0, '[]', '[]',
       CASE @outcome WHEN 'retried' THEN '[]' ELSE s.created END, CASE WHEN @fingerprint IS NULL THEN '[]' ELSE json_array(json_array(@fingerprint, s.n)) END
  FROM (SELECT c.queue, c.topic, sum(c.n) AS n, json_group_array(json_array(c.created, c.n)) AS created FROM cell c GROUP BY c.queue, c.topic) s WHERE true
ON CONFLICT (grain, minute, queue, topic, worker) DO UPDATE SET done = a.done + excluded.done, retried = a.retried + excluded.retried, failed = a.failed + excluded.failed,
  expired = a.expired + excluded.expired, created = CASE excluded.created WHEN '[]' THEN a.created ELSE pawl.pairs(a.created, excluded.created, -1) END,
  errors = CASE excluded.errors WHEN '[]' THEN a.errors ELSE pawl.pairs(a.errors, excluded.errors, 5) END
