SELECT pawl.outbox_suspects(@queue)::int
