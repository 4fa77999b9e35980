INSERT INTO pawl.outbox_stopping (id, owner, reason, at)
SELECT m.id, c.owner, '', @now FROM (SELECT pawl.message_at(@id, @message_id) AS id) m JOIN pawl.outbox_claim c ON pawl.covers(pawl.outbox_claim, c, m.id) WHERE 1
ON CONFLICT DO NOTHING
