-- message_place(message, id)
-- Where the message at a position is: 0 ready, 1 claimed, 2 done, 3 failed, 4 discarded, 5 expired,
-- -1 deleted. message is its row, or that of an outer join that found none.
CASE WHEN {message}.id IS NULL THEN -1
     WHEN EXISTS (SELECT 1 FROM pawl.outbox_done d WHERE pawl.covers(pawl.outbox_done, d, {id})) THEN 2
     WHEN EXISTS (SELECT 1 FROM pawl.claim_table() c WHERE pawl.covers(pawl.claim_table(), c, {id})) THEN 1
     ELSE coalesce((SELECT e.status FROM pawl.outbox_exception e WHERE e.id = {id}), 0) END
