SELECT EXISTS (SELECT 1 FROM pawl.outbox_unique) AS found
