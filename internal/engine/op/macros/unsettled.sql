-- unsettled(id)
-- Whether a message is due, waits, or is claimed.
(EXISTS (SELECT 1 FROM pawl.outbox_ready r WHERE pawl.covers(pawl.outbox_ready, r, {id})) OR EXISTS (SELECT 1 FROM pawl.claim_table() c WHERE pawl.covers(pawl.claim_table(), c, {id})))
