-- Failed messages to redrive or discard, oldest first. ?1 now, ?2 ids as a JSON array or null, ?3 topic or null, ?4 how many.
SELECT e.id, m.lane FROM pawl.outbox_exception e JOIN pawl.outbox_message m ON m.id = e.id
 WHERE e.status >= 3 AND e.status = 3 AND (?2 IS NULL OR e.id IN (SELECT value FROM json_each(?2))) AND (?3 IS NULL OR m.topic = ?3)
 ORDER BY e.id LIMIT ?4
