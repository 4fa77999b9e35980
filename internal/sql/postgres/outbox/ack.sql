SELECT pawl.outbox_ack_runs(@runs.owner, @runs.lo, @runs.n, @worker, @failed.lo, @failed.n)
