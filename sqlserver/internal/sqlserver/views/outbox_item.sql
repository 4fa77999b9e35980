-- Every message with its place. Each place is one predecessor probe. A message of a
-- lane that is not known (see outbox_orphans) has the queue '', which none is called.
CREATE VIEW pawl.outbox_item AS
SELECT pawl.message(m),
       coalesce(l.queue, '') AS queue, coalesce(l.priority, 0) AS priority,
       CASE WHEN r.lo IS NOT NULL THEN 0 WHEN c.lo IS NOT NULL THEN 1 WHEN d.lo IS NOT NULL THEN 2 ELSE coalesce(e.status, 0) END AS status,
       coalesce(r.retry, c.retry, e.retry_count, 0) AS retry_count,
       coalesce(pawl.planned(r.at), c.at, e.next_attempt_at, m.due_at, m.created_at) AS next_attempt_at,
       c.locked_until, c.owner AS owner_token, d.processed_at, d.processed_by,
       e.last_error, coalesce(e.redrives, 0) AS redrives
  FROM pawl.outbox_message m
  LEFT JOIN pawl.outbox_lane l ON l.id = m.lane
  LEFT JOIN pawl.outbox_ready r ON r.lo = (SELECT max(x.lo) FROM pawl.outbox_ready x WHERE x.lo <= m.id) AND r.lo + r.n > m.id
  LEFT JOIN pawl.outbox_claimed c ON c.lo = (SELECT max(x.lo) FROM pawl.outbox_claimed x WHERE x.lo <= m.id) AND c.lo + c.n > m.id
  LEFT JOIN pawl.outbox_done  d ON d.lo = (SELECT max(x.lo) FROM pawl.outbox_done  x WHERE x.lo <= m.id) AND d.lo + d.n > m.id
  LEFT JOIN pawl.outbox_exception e ON e.id = m.id;
