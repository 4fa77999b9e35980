DELETE FROM pawl.outbox_exception WHERE id >= @lo AND id < @end
