SELECT pawl.outbox_fail_runs(@runs.owner, @runs.lo, @runs.n, @runs.error, @count, @runs.expired, @worker, @keep, @runs.hold, @runs.fingerprint, @runs.cancelled)
