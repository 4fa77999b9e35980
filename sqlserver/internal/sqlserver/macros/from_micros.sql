-- from_micros(micros)
-- A time from microseconds since 1970, null for null.
DATEADD(microsecond, CAST({micros} % 1000000 AS int), DATEADD(second, CAST({micros} / 1000000 % 86400 AS int), DATEADD(day, CAST({micros} / 86400000000 AS int), CAST('1970-01-01' AS datetime2(7)))))
