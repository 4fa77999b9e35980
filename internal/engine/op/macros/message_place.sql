-- message_place(message, id)
-- Where the message at a position is: 0 ready, 1 claimed, 2 done, 3 failed, 4 discarded, 5 expired,
-- -1 deleted. message is its row, or that of an outer join that found none.
CASE WHEN {message}.id IS NULL THEN -1
     WHEN pawl.holds(pawl.outbox_done, {id}) THEN 2
     WHEN pawl.holds(pawl.claim_table(), {id}) THEN 1
     ELSE coalesce((SELECT e.status FROM pawl.outbox_exception e WHERE e.id = {id}), 0) END
