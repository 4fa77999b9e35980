-- forever()
CAST('9999-12-31 23:59:59.999999' AS datetime2(7))
