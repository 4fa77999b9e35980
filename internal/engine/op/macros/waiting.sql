-- waiting(lease)
(SELECT count(*) FROM pawl.lease_waiter w WHERE w.name = {lease} AND w.alive_until > @now)
