SELECT pawl.columns(l) FROM pawl.outbox_lane l
