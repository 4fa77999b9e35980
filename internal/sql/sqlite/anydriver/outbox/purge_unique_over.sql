DELETE FROM pawl.outbox_unique WHERE key IN (SELECT u.key FROM pawl.outbox_unique u WHERE u.id = 0 AND u.until <= @now ORDER BY u.until LIMIT @look)
