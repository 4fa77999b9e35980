-- Dead messages by source and id, of which there is an index. ?2 and ?3 above this source and id, ?4 how many.
SELECT source, message_id, hash, first_seen_utc, last_seen_utc, processed_utc, deliveries, attempts, mismatches, status, last_error, locked_until_utc
  FROM pawl.inbox WHERE status = 'Dead' AND (source, message_id) > (?2, ?3) ORDER BY source, message_id LIMIT ?4
