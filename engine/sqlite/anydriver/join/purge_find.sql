-- Joins that ended before ?2, among the ?3 oldest of outcome ?4, unless a wait
-- is still to be handled.
SELECT x.join_id FROM (SELECT join_id, last_updated_utc FROM pawl.outbox_join WHERE status = ?4 ORDER BY join_id LIMIT ?3) x
 WHERE x.last_updated_utc < ?2
   AND NOT EXISTS (SELECT 1 FROM pawl.outbox_join_wait w JOIN pawl.outbox_item i ON i.id = w.id WHERE w.join_id = x.join_id AND i.status < 2)
