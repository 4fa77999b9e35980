-- minute(time)
DATEDIFF_BIG(minute, '1970-01-01', {time})
