SELECT kind, name FROM pawl.outbox_limit WHERE kind IN ('topic', 'each') AND pattern = ''
