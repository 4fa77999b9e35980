EXEC pawl.outbox_claim_any @queue, @owner, @lease, @most, @versioned, N'messages'
