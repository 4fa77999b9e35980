SELECT pawl.outbox_waiting(@queue, @most) AS n
