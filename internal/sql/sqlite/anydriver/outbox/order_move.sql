UPDATE pawl.outbox_ready SET lane = @lane WHERE lo = @id AND n = 1
