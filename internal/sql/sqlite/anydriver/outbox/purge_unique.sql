DELETE FROM pawl.outbox_unique WHERE id >= @lo AND id < @end AND coalesce(until, 0) <= @now
