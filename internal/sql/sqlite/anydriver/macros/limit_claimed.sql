-- limit_claimed(limit)
-- How many messages count against a limit's concurrency. One that was put back and claimed again
-- may be in two rows.
(SELECT count(DISTINCT i.value) FROM pawl.outbox_limit_claim u, pawl.limit_ids(u) i WHERE u.kind = {limit}.kind AND u.name = {limit}.name AND pawl.holds(pawl.outbox_claim, i.value))
