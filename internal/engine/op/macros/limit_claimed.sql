-- limit_claimed(limit)
-- How many messages count against a limit's concurrency.
(SELECT count(*) FROM pawl.outbox_limit_claim u JOIN pawl.claim_table() c ON pawl.covers(pawl.claim_table(), c, u.id) WHERE u.kind = {limit}.kind AND u.name = {limit}.name)
