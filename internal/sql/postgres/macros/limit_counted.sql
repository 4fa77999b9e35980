-- limit_counted(limit)
-- How many messages are counted against a limit's concurrency, also of those that are no longer claimed.
(SELECT sum(1 + coalesce(cardinality(u.more), 0)) FROM pawl.outbox_limit_claim u WHERE u.kind = {limit}.kind AND u.name = {limit}.name)
