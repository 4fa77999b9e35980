CREATE VIEW pawl.inbox_messages AS
SELECT source, message_id, hash,
       strftime('%Y-%m-%dT%H:%M:%fZ', first_seen_utc / 1e6, 'unixepoch') AS first_seen_utc,
       strftime('%Y-%m-%dT%H:%M:%fZ', last_seen_utc / 1e6, 'unixepoch') AS last_seen_utc,
       strftime('%Y-%m-%dT%H:%M:%fZ', processed_utc / 1e6, 'unixepoch') AS processed_utc,
       deliveries, attempts, mismatches, status, last_error,
       strftime('%Y-%m-%dT%H:%M:%fZ', locked_until_utc / 1e6, 'unixepoch') AS locked_until_utc
  FROM pawl.inbox;
