-- settled(id)
(pawl.holds(pawl.outbox_done, {id}) OR EXISTS (SELECT 1 FROM pawl.outbox_exception e WHERE e.id = {id} AND e.status >= 3))
