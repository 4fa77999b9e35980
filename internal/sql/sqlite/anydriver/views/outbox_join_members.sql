CREATE VIEW pawl.outbox_join_members AS
SELECT lower(substr(hex(join_id), 1, 8) || '-' || substr(hex(join_id), 9, 4) || '-' || substr(hex(join_id), 13, 4)
         || '-' || substr(hex(join_id), 17, 4) || '-' || substr(hex(join_id), 21)) AS join_id,
       lower(substr(hex(outbox_message_id), 1, 8) || '-' || substr(hex(outbox_message_id), 9, 4) || '-' || substr(hex(outbox_message_id), 13, 4)
         || '-' || substr(hex(outbox_message_id), 17, 4) || '-' || substr(hex(outbox_message_id), 21)) AS outbox_message_id,
       id, status,
       strftime('%Y-%m-%dT%H:%M:%fZ', created_utc / 1e6, 'unixepoch') AS created_utc
  FROM pawl.outbox_join_member;
