SELECT DISTINCT i.value AS id FROM pawl.outbox_limit_claim c, pawl.limit_ids(c) i
 WHERE c.kind = @kind AND c.name = @name AND pawl.holds(pawl.outbox_claim, i.value) ORDER BY 1
