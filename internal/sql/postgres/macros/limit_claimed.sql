-- limit_claimed(limit)
-- How many messages count against a limit's concurrency. One that was put back and claimed again
-- may be in two rows.
(SELECT pg_catalog.count(DISTINCT i.id) FROM pawl.outbox_limit_claim u pawl.limit_ids(u) WHERE u.kind = {limit}.kind AND u.name = {limit}.name AND pawl.claimed_now(i.id))
