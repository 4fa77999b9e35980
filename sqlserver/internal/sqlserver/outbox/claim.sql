EXEC pawl.outbox_claim_runs @queue, @owner, @lease, @most, @versioned, 0, NULL, @wait, NULL, @apart
