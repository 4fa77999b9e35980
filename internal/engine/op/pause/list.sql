SELECT pawl.columns(p) FROM pawl.outbox_pause p ORDER BY p.kind, p.name
