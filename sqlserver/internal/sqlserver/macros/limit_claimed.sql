-- limit_claimed(limit)
-- How many messages count against a limit's concurrency.
(SELECT COUNT_BIG(*) FROM pawl.outbox_limit_claim u pawl.unlocked()
  WHERE u.of_limit = {limit}.seq AND coalesce((SELECT TOP (1) c.lo + c.n FROM pawl.outbox_claimed c pawl.unlocked() WHERE c.lo <= u.id ORDER BY c.lo DESC), 0) > u.id)
