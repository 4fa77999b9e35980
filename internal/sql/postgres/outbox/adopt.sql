SELECT pawl.outbox_adopt(@queues)
