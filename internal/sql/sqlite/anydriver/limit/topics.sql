SELECT name FROM pawl.outbox_limit WHERE kind = 'topic'
