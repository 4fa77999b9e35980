-- elapsed(since, until)
DATEDIFF_BIG(microsecond, {since}, {until})
