-- minute(time)
-- The minute of a time since 1970.
({time} / 60000000)
