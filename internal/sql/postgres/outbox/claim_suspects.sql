SELECT pawl.columns(r), r.retry AS retry_count, @queue AS queue, r.priority AS priority, r.locked_until AS locked_until
  FROM pawl.outbox_claim_queue_suspects(@queue, @owner, @lease, @most) r WHERE NOT pawl.paused(@queue)
