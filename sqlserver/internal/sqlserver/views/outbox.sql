-- The seed's Outbox table, column for column (D-102).
CREATE VIEW pawl.outbox AS
SELECT i.id, i.topic, pawl.outbox_text(i.payload) AS payload, i.created_at, i.status, i.locked_until, i.owner_token, CAST(CASE WHEN i.status = 2 THEN 1 ELSE 0 END AS bit) AS is_processed,
       i.processed_at, i.processed_by, i.retry_count, i.last_error, i.next_attempt_at, i.message_id, i.correlation_id, i.due_at AS due_time_utc,
       i.headers, i.queue, i.priority
  FROM pawl.outbox_item i;
