-- Microseconds until a job is due, or null.
SELECT (extract(epoch FROM (SELECT min(j.due_at) FROM pawl.job j WHERE j.due_at IS NOT NULL AND j.enabled) - clock_timestamp()) * 1000000)::int8
