-- How many messages of the inbox are being processed and were neither heard of for
-- $2 nor are held by a lease, counted up to $1.
SELECT count(*) FROM (
  SELECT FROM pawl.inbox i WHERE i.status = 'Processing' AND i.last_seen_utc < now() - $2::interval AND (i.locked_until_utc IS NULL OR i.locked_until_utc < now()) LIMIT $1) i
