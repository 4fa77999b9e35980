pawl.recent(pawl.outbox_done, lo, x.n, processed_at)
