-- settled(id)
(EXISTS (SELECT 1 FROM pawl.outbox_done d WHERE pawl.covers(pawl.outbox_done, d, {id})) OR EXISTS (SELECT 1 FROM pawl.outbox_exception e WHERE e.id = {id} AND e.status >= 3))
