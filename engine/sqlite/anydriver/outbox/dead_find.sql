-- Failed messages with whether a filter chooses them, oldest first. ?1 now, ?2 ids
-- as a JSON array, ?3 topic, ?4 queue, ?5 part of the error, ?6 failed since, ?7
-- and before: each or null; ?8 behind this position, ?9 how many to look at.
SELECT e.id, m.lane,
       (?3 IS NULL OR m.topic = ?3) AND (?4 IS NULL OR m.lane IN (SELECT l.id FROM pawl.outbox_lane l WHERE l.queue = ?4))
       AND (?5 IS NULL OR instr(coalesce(e.last_error, ''), ?5) > 0) AND (?6 IS NULL OR e.updated_at >= ?6) AND (?7 IS NULL OR e.updated_at < ?7)
  FROM pawl.outbox_exception e JOIN pawl.outbox_message m ON m.id = e.id
 WHERE e.status >= 3 AND e.status = 3 AND e.id > ?8 AND (?2 IS NULL OR e.id IN (SELECT value FROM json_each(?2)))
 ORDER BY e.id LIMIT ?9
