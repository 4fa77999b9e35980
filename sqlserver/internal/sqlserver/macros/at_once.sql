-- at_once()
CAST('1970-01-01' AS datetime2(7))
