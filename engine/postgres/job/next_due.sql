-- Microseconds until a job is due, or null.
SELECT (extract(epoch FROM (SELECT CASE WHEN isfinite(x.at) THEN x.at WHEN x.at < clock_timestamp() THEN clock_timestamp() END
  FROM (SELECT min(j.due_at) AS at FROM pawl.job j WHERE j.due_at IS NOT NULL AND j.enabled) x) - clock_timestamp()) * 1000000.0)::int8
