-- All states there are: the index begins with the state.
INSERT INTO pawl.outbox_join_result (join_id, id, result)
SELECT m.join_id, m.id, @result FROM pawl.outbox_join_member m
 WHERE m.status IN (0, 1, 2) AND m.id = @id AND EXISTS (SELECT 1 FROM pawl.outbox_claim c WHERE pawl.covers(pawl.outbox_claim, c, @id) AND c.owner = @owner)
ON CONFLICT (join_id, id) DO UPDATE SET result = excluded.result
