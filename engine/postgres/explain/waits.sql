-- Waits of join $1 by position, at most $2.
SELECT w.id FROM pawl.outbox_join_wait w WHERE w.join_id = $1 ORDER BY w.id LIMIT $2
