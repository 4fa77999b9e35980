INSERT INTO pawl.outbox_limit_claim (kind, name, id)
SELECT @kind, @name, m.id FROM pawl.outbox_claim c JOIN pawl.outbox_lane q ON q.id = c.lane JOIN pawl.outbox_message m ON m.id >= c.lo AND m.id < c.lo + c.n
 WHERE CASE @kind WHEN 'topic' THEN m.topic = @name ELSE q.queue = @name END
ON CONFLICT DO NOTHING
