DELETE FROM pawl.outbox_limit_claim AS c WHERE c.kind = 'topic' AND NOT EXISTS (SELECT 1 FROM pawl.limit_ids(c) i WHERE pawl.holds(pawl.outbox_claim, i.value))
