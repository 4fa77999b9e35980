SELECT 1 AS found FROM pawl.outbox_claim WHERE locked_until < @now LIMIT 1
