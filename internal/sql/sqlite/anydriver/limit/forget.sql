DELETE FROM pawl.outbox_limit_claim
 WHERE kind = @kind AND name = @name AND coalesce((SELECT c.lo + c.n FROM pawl.outbox_claim c WHERE c.lo <= id ORDER BY c.lo DESC LIMIT 1), 0) <= id
