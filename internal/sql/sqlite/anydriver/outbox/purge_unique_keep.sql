-- The key is kept until its period is over; see the schema.
UPDATE pawl.outbox_unique SET id = 0 WHERE id >= @lo AND id < @end
