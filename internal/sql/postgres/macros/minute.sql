-- minute(time)
-- 0 for a time that Go cannot represent: one broken row must not stop the others.
coalesce(floor(extract(epoch FROM pawl.finite({time})) / 60.0)::int8, 0)
