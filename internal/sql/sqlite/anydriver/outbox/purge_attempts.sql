DELETE FROM pawl.outbox_attempt WHERE id >= @lo AND id < @end
