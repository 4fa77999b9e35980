-- Members of join $1 by message id, above $2; $3 status or null, $4 how many.
-- A member's message may have been cleaned up once the join is over.
SELECT j.outbox_message_id, j.id, j.status, j.created_utc, m.topic
  FROM pawl.outbox_join_member j LEFT JOIN pawl.outbox_message m ON m.id = j.id
 WHERE j.join_id = $1 AND j.outbox_message_id > $2 AND ($3::int IS NULL OR j.status = $3) ORDER BY j.outbox_message_id LIMIT $4
