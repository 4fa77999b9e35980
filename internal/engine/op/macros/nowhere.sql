-- nowhere(id)
-- Whether a message is in no place: neither due, nor claimed, nor over.
NOT (pawl.settled({id}) OR EXISTS (SELECT 1 FROM pawl.outbox_ready r WHERE pawl.covers(pawl.outbox_ready, r, {id})) OR EXISTS (SELECT 1 FROM pawl.claim_table() c WHERE pawl.covers(pawl.claim_table(), c, {id})))
