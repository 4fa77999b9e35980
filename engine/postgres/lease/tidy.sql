-- Drop from the line whoever was served or died. $1 name.
DELETE FROM pawl.lease_waiter w
 WHERE w.name = $1 AND (w.alive_until <= clock_timestamp() OR EXISTS (SELECT 1 FROM pawl.lease l WHERE l.name = $1 AND l.holder = w.id))
