SELECT pawl.outbox_release_runs(@runs.owner, @runs.lo, @runs.n, @runs.delay, @runs.unbegun)
