-- Change nothing, in a way that a database which cannot be written to refuses.
UPDATE pawl.outbox_lane SET queue = queue WHERE false
