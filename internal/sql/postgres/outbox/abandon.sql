SELECT pawl.outbox_abandon_runs(@runs.owner, @runs.lo, @runs.n, @runs.delay, @runs.error, @worker, @keep, @runs.yield, @runs.uncounted, @runs.fingerprint)
