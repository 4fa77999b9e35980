-- The engine adds @first, how many ready rows will probably be enough, and @from and @to, the ranges
-- to read, and reads at and length from the result: see tune.go.
SELECT pawl.columns(r), r.retry AS retry_count, @queue AS queue, r.priority AS priority, r.locked_until AS locked_until, r.at AS at, r.length AS length
  FROM pawl.outbox_claim_ranges(@queue, @owner, @lease, @most, @first, @from, @to, @wait, @apart) r WHERE NOT pawl.paused(@queue)
