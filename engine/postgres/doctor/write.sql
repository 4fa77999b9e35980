-- Change nothing, in a way that a database which cannot be written to refuses.
UPDATE pawl.outbox_ready SET retry = retry WHERE false
