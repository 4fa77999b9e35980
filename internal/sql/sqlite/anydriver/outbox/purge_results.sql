DELETE FROM pawl.outbox_result WHERE id >= @lo AND id < @end
