SELECT pawl.outbox_park_runs(@runs.owner, @runs.lo, @runs.n, @runs.topic)
