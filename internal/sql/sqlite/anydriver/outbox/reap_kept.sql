SELECT min(s.id) AS lo, count(*) AS n
  FROM (SELECT m.id, m.id - row_number() OVER (ORDER BY m.id) AS island FROM pawl.outbox_message m WHERE m.id >= @lo AND m.id < @end) s
 GROUP BY s.island ORDER BY lo
