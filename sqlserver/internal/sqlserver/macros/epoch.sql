-- epoch(time)
-- Microseconds since 1970.
DATEDIFF_BIG(microsecond, '1970-01-01', {time})
