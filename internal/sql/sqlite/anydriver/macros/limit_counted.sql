-- limit_counted(limit)
-- How many messages are counted against a limit's concurrency, also of those that are no longer claimed.
(SELECT coalesce(sum(u.n), 0) FROM pawl.outbox_limit_claim u WHERE u.kind = {limit}.kind AND u.name = {limit}.name)
