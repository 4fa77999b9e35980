SELECT pawl.outbox_extend_runs(@runs.owner, @runs.lo, @runs.n, @lease)
