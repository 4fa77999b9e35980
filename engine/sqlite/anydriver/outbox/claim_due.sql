-- Is anything due, in a queue that is not paused? Asked without the write lock
-- before every claim, so that an idle worker never delays a writer. ?1 now, ?2 queue,
-- ?3 whether suspects count.
SELECT 1 FROM pawl.outbox_lane l
 WHERE l.queue = ?2 AND EXISTS (SELECT 1 FROM pawl.outbox_ready r WHERE r.lane = l.id AND r.at <= ?1 AND (?3 OR r.suspect = 0))
   AND NOT EXISTS (SELECT 1 FROM pawl.outbox_pause p WHERE p.kind = 'queue' AND p.name = ?2) LIMIT 1
