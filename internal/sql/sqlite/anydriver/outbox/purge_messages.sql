DELETE FROM pawl.outbox_message WHERE id >= @lo AND id < @end
