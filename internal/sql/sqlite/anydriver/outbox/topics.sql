SELECT m.topic, l.queue, count(*) AS n
  FROM (SELECT value ->> 'Lo' AS lo, value ->> 'N' AS n FROM json_each(@spans)) r
 CROSS JOIN pawl.outbox_message m ON m.id >= r.lo AND m.id < r.lo + r.n
  LEFT JOIN pawl.outbox_lane l ON l.id = m.lane
 GROUP BY m.topic, l.queue
