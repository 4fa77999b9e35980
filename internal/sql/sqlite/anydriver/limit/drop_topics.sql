DELETE FROM pawl.outbox_limit WHERE pattern <> '' AND length(pattern) <= length(@pattern) AND pawl.falls_under(@pattern, name)
