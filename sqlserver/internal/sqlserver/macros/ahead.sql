-- ahead(name, waiter)
-- How many live waiters stand before one, or in all if it does not wait itself.
(SELECT COUNT(*) FROM pawl.lease_waiter w WITH (FORCESEEK)
  WHERE pawl.exactly(w.name, {name}) AND w.id <> {waiter} AND w.alive_until > SYSUTCDATETIME()
    AND w.ticket < coalesce((SELECT m.ticket FROM pawl.lease_waiter m WITH (FORCESEEK) WHERE m.id = {waiter}), 9223372036854775807))
