-- limit_claimed(limit)
-- How many messages count against a limit's concurrency.
(SELECT count(*) FROM pawl.outbox_limit_claim u WHERE u.kind = {limit}.kind AND u.name = {limit}.name AND pawl.holds(pawl.claim_table(), u.id))
