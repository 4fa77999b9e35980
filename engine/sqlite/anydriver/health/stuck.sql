-- How many messages of the inbox are being processed and were neither heard of for
-- ?3 nor are held by a lease, counted up to ?2. ?1 now.
SELECT count(*) FROM (
  SELECT 1 FROM pawl.inbox WHERE status = 'Processing' AND last_seen_utc < ?1 - ?3 AND (locked_until_utc IS NULL OR locked_until_utc < ?1) LIMIT ?2)
