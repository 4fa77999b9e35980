CREATE VIEW pawl.outbox_joins AS
SELECT lower(substr(hex(join_id), 1, 8) || '-' || substr(hex(join_id), 9, 4) || '-' || substr(hex(join_id), 13, 4)
         || '-' || substr(hex(join_id), 17, 4) || '-' || substr(hex(join_id), 21)) AS join_id,
       grouping_key, expected_steps, completed_steps, failed_steps, status,
       strftime('%Y-%m-%dT%H:%M:%fZ', created_utc / 1e6, 'unixepoch') AS created_utc,
       strftime('%Y-%m-%dT%H:%M:%fZ', last_updated_utc / 1e6, 'unixepoch') AS last_updated_utc,
       metadata,
       strftime('%Y-%m-%dT%H:%M:%fZ', deadline_utc / 1e6, 'unixepoch') AS deadline_utc
  FROM pawl.outbox_join;
