-- Few ready rows are read first: who claims for itself does not learn how long they are, and rows that are
-- read are locked, also those that are not needed.
SELECT pawl.columns(r), r.retry AS retry_count, @queue AS queue, r.priority AS priority, r.locked_until AS locked_until
  FROM pawl.outbox_claim_any(@queue, @owner, @lease, @most, 10, '-infinity') r WHERE NOT pawl.paused(@queue)
