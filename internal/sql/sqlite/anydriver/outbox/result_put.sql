INSERT INTO pawl.outbox_result (id, result)
SELECT @id, @result WHERE length(@result) > 0 AND EXISTS (SELECT 1 FROM pawl.outbox_claim c WHERE pawl.covers(pawl.outbox_claim, c, @id) AND c.owner = @owner)
ON CONFLICT DO UPDATE SET result = excluded.result
