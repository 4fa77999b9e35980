-- The seed's Timers table, column for column (D-102). The payload of a dispatched one is in
-- the outbox, under the same id.
CREATE VIEW pawl.timers AS
SELECT t.timer_id AS id, t.due_time, pawl.outbox_text(t.payload) AS payload, t.topic, t.correlation_id, t.status AS status_code, t.locked_until, t.owner AS owner_token,
       CASE t.status WHEN 0 THEN N'Pending' WHEN 1 THEN N'InProgress' WHEN 2 THEN N'Done' WHEN 3 THEN N'Failed' ELSE N'Cancelled' END AS status,
       LOWER(CONVERT(nvarchar(36), t.owner)) AS claimed_by, t.claimed_at, t.retry_count, t.created_at, t.processed_at, t.last_error,
       t."key", t.headers, l.queue, l.priority
  FROM pawl.timer t LEFT JOIN pawl.outbox_lane l ON l.id = t.lane;
