SELECT pawl.elapsed(@now, min(b.at)) AS micros FROM pawl.outbox_bulk b WHERE b.ended_at IS NULL
