-- The first message of each group from one on, and whether it may become the head of its key: none of that is in line.
WITH RECURSIVE turn(at) AS (
  SELECT @low - 1
  UNION ALL
  SELECT (SELECT x.at FROM pawl.outbox_ready x WHERE x.lane = @lane AND x.at > turn.at AND x.at <= @high ORDER BY x.at LIMIT 1) FROM turn WHERE turn.at IS NOT NULL),
head AS (
  SELECT r.lo, r.n, r.lane, r.at, r.retry, r.suspect, m.created_at, CASE WHEN json_valid(m.headers) THEN json_extract(m.headers, '$."pawl-ordering-key"') END AS "key"
    FROM turn CROSS JOIN pawl.outbox_ready r ON r.lane = @lane AND r.at = turn.at AND turn.at >= @low AND r.lo = (SELECT min(x.lo) FROM pawl.outbox_ready x WHERE x.lane = @lane AND x.at = turn.at)
    LEFT JOIN pawl.outbox_message m ON m.id = r.lo)
SELECT lo, n, lane, at, retry, 0 AS locked_until, suspect, coalesce(created_at, 0) AS created_at, coalesce("key", '') AS "key",
       suspect = 0 AND coalesce("key", '') <> '' AND NOT EXISTS (SELECT 1 FROM pawl.outbox_order o WHERE o.lane = @lane AND o."key" = head."key") AS free FROM head
