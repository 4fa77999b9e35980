SELECT kind, name FROM pawl.outbox_limit WHERE kind = 'each' AND concurrency IS NOT NULL
