EXEC pawl.outbox_claim_suspect_runs @queue, @owner, @lease, @most, @versioned
