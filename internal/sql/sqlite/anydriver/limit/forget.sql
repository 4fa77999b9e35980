DELETE FROM pawl.outbox_limit_claim AS u WHERE u.kind = @kind AND u.name = @name AND NOT pawl.holds(pawl.outbox_claim, u.id)
