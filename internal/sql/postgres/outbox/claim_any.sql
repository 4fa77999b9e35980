-- As claim.
SELECT pawl.columns(r), r.retry AS retry_count, @queue AS queue, r.priority AS priority, r.locked_until AS locked_until, r.at AS at, r.length AS length
  FROM pawl.outbox_claim_any(@queue, @owner, @lease, @most, @rows, @from) r WHERE NOT pawl.paused(@queue)
