INSERT INTO pawl.flow_step (id, name, kind, nr, retry, signal, created_at, result)
SELECT @id, @name, @kind, @nr, @retry, @signal, @now, @result
 WHERE EXISTS (SELECT 1 FROM pawl.outbox_claim c WHERE pawl.covers(pawl.outbox_claim, c, @id) AND c.owner = @owner)
ON CONFLICT DO UPDATE SET nr = nr
