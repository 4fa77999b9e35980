DELETE FROM pawl.outbox_limit_claim AS u WHERE u.kind = 'topic' AND NOT pawl.claimed(u.id)
