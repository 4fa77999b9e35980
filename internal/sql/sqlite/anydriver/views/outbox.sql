-- The seed's Outbox table, column for column (D-102), with readable times.
CREATE VIEW pawl.outbox AS
SELECT id, topic, payload,
       strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1e6, 'unixepoch') AS created_at,
       status,
       strftime('%Y-%m-%dT%H:%M:%fZ', locked_until / 1e6, 'unixepoch') AS locked_until,
       CASE WHEN owner_token IS NOT NULL THEN lower(substr(hex(owner_token), 1, 8) || '-' || substr(hex(owner_token), 9, 4) || '-' || substr(hex(owner_token), 13, 4)
         || '-' || substr(hex(owner_token), 17, 4) || '-' || substr(hex(owner_token), 21)) END AS owner_token,
       status = 2 AS is_processed,
       strftime('%Y-%m-%dT%H:%M:%fZ', processed_at / 1e6, 'unixepoch') AS processed_at,
       processed_by, retry_count, last_error,
       strftime('%Y-%m-%dT%H:%M:%fZ', next_attempt_at / 1e6, 'unixepoch') AS next_attempt_at,
       lower(substr(hex(message_id), 1, 8) || '-' || substr(hex(message_id), 9, 4) || '-' || substr(hex(message_id), 13, 4)
         || '-' || substr(hex(message_id), 17, 4) || '-' || substr(hex(message_id), 21)) AS message_id,
       correlation_id,
       strftime('%Y-%m-%dT%H:%M:%fZ', due_at / 1e6, 'unixepoch') AS due_time_utc,
       headers, queue, priority
  FROM pawl.outbox_item;
