EXEC pawl.outbox_claim_queue @queue, @owner, @lease, @most, @versioned, N'messages', NULL, @wait, @apart
