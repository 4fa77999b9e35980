-- Waits of join $1 that are not handled, by position, at most $2 of its first 100.
SELECT i.id FROM (SELECT w.id FROM pawl.outbox_join_wait w WHERE w.join_id = $1 ORDER BY w.id LIMIT 100) x
  JOIN pawl.outbox_item i ON i.id = x.id WHERE i.status IN (0, 1, 3) ORDER BY i.id LIMIT $2
