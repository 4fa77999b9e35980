INSERT INTO pawl.outbox_limit_claim (kind, name, id)
SELECT CASE @kind WHEN 'queue' THEN 'queue' ELSE 'topic' END, CASE @kind WHEN 'queue' THEN q.queue ELSE m.topic END, m.id
  FROM pawl.outbox_claim c JOIN pawl.outbox_lane q ON q.id = c.lane JOIN pawl.outbox_message m ON m.id >= c.lo AND m.id < c.lo + c.n
 WHERE CASE @kind WHEN 'queue' THEN q.queue = @name WHEN 'topic' THEN m.topic = @name ELSE pawl.falls_under(@name, m.topic) END
ON CONFLICT DO NOTHING
