-- waiting(lease)
(SELECT count(*) FROM pawl.lease_waiter w WHERE pawl.exactly(w.name, {lease}) AND w.alive_until > @now)
