-- The seed's Timers table, column for column (D-102), with readable ids and
-- times. The payload of a dispatched one is in the outbox, under the same id.
CREATE VIEW pawl.timers AS
SELECT lower(substr(hex(t.timer_id), 1, 8) || '-' || substr(hex(t.timer_id), 9, 4) || '-' || substr(hex(t.timer_id), 13, 4)
         || '-' || substr(hex(t.timer_id), 17, 4) || '-' || substr(hex(t.timer_id), 21)) AS id,
       strftime('%Y-%m-%dT%H:%M:%fZ', t.due_time / 1e6, 'unixepoch') AS due_time,
       t.payload, t.topic, t.correlation_id, t.status AS status_code,
       strftime('%Y-%m-%dT%H:%M:%fZ', t.locked_until / 1e6, 'unixepoch') AS locked_until,
       CASE WHEN t.owner IS NOT NULL THEN lower(substr(hex(t.owner), 1, 8) || '-' || substr(hex(t.owner), 9, 4) || '-' || substr(hex(t.owner), 13, 4)
         || '-' || substr(hex(t.owner), 17, 4) || '-' || substr(hex(t.owner), 21)) END AS owner_token,
       CASE t.status WHEN 0 THEN 'Pending' WHEN 1 THEN 'InProgress' WHEN 2 THEN 'Done' WHEN 3 THEN 'Failed' ELSE 'Cancelled' END AS status,
       CASE WHEN t.owner IS NOT NULL THEN lower(substr(hex(t.owner), 1, 8) || '-' || substr(hex(t.owner), 9, 4) || '-' || substr(hex(t.owner), 13, 4)
         || '-' || substr(hex(t.owner), 17, 4) || '-' || substr(hex(t.owner), 21)) END AS claimed_by,
       strftime('%Y-%m-%dT%H:%M:%fZ', t.claimed_at / 1e6, 'unixepoch') AS claimed_at,
       t.retry_count,
       strftime('%Y-%m-%dT%H:%M:%fZ', t.created_at / 1e6, 'unixepoch') AS created_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', t.processed_at / 1e6, 'unixepoch') AS processed_at,
       t.last_error, t.key, t.headers, l.queue, l.priority
  FROM pawl.timer t LEFT JOIN pawl.outbox_lane l ON l.id = t.lane;
