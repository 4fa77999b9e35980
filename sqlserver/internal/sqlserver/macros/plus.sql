-- plus(time, interval)
-- DATEADD takes no more than an int.
DATEADD(microsecond, CAST(({interval}) % 1000000 AS int), DATEADD(second, CAST(({interval}) / 1000000 % 86400 AS int), DATEADD(day, CAST(({interval}) / 86400000000 AS int), {time})))
