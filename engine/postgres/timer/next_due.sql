-- Microseconds until a timer is due or a lease runs out, or null.
SELECT (extract(epoch FROM least((SELECT min(t.at) FROM pawl.timer t WHERE t.status = 0), (SELECT min(t.locked_until) FROM pawl.timer t WHERE t.status = 1))
  - clock_timestamp()) * 1000000.0)::int8
