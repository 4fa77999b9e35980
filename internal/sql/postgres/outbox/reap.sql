SELECT pawl.outbox_reap_runs(@most, @keep)
