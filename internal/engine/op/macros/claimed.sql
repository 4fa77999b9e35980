-- claimed(id)
-- Is a message under lease?
coalesce((SELECT c.lo + c.n FROM pawl.outbox_claim c WHERE c.lo <= {id} ORDER BY c.lo DESC LIMIT 1), 0) > {id}
