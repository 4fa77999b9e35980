EXEC pawl.outbox_claim_queue_suspects @queue, @owner, @lease, @most, @versioned, N'messages'
