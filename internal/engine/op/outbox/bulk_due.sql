SELECT pawl.columns(b) FROM pawl.outbox_bulk b WHERE b.ended_at IS NULL AND b.at <= pawl.minus(@now, @late) ORDER BY b.at, b.id pawl.limit(@most)
