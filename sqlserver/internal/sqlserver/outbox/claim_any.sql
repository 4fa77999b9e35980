EXEC pawl.outbox_claim_any_runs @queue, @owner, @lease, @most, @versioned
