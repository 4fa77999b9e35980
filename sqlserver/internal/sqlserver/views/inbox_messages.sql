-- The seed's Inbox table, column for column (D-102).
CREATE VIEW pawl.inbox_messages AS
SELECT i.source, i.message_id, i.hash, i.first_seen_utc, i.last_seen_utc, i.processed_utc, i.deliveries, i.attempts, i.mismatches, i.status, i.last_error, i.locked_until_utc
  FROM pawl.inbox i;
