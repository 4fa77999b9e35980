SELECT count(*) FROM (
  SELECT 1 AS one FROM pawl.inbox i WHERE i.status = 'Processing' AND i.last_seen_utc < pawl.minus(@began, @age) AND (i.locked_until_utc IS NULL OR i.locked_until_utc < @began) pawl.first(@most)) x
