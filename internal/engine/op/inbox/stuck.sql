SELECT pawl.columns(i) FROM pawl.inbox i
 WHERE i.status = 'Processing' AND i.last_seen_utc < @began - @age AND (i.locked_until_utc IS NULL OR i.locked_until_utc < @began)
 ORDER BY i.last_seen_utc LIMIT @most
