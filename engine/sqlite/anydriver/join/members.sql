-- Members of join ?2 by message id, above ?3; ?4 status or null, ?5 how many.
-- A member's message may have been cleaned up once the join is over.
SELECT j.outbox_message_id, j.id, j.status, j.created_utc, m.topic
  FROM pawl.outbox_join_member j LEFT JOIN pawl.outbox_message m ON m.id = j.id
 WHERE j.join_id = ?2 AND j.outbox_message_id > ?3 AND (?4 IS NULL OR j.status = ?4) ORDER BY j.outbox_message_id LIMIT ?5
