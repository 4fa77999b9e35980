-- unsettled(id)
-- Whether a message is due, waits, or is claimed.
(pawl.holds(pawl.outbox_ready, {id}) OR pawl.holds(pawl.claim_table(), {id}))
