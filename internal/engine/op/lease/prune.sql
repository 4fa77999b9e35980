DELETE FROM pawl.lease_waiter
 WHERE name = @name AND (alive_until <= @now OR id = (SELECT l.holder FROM pawl.lease l WHERE l.name = @name))
