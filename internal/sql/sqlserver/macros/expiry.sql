-- expiry(headers)
CASE WHEN {headers} LIKE N'%"pawl-expires"%' AND ISJSON({headers}) = 1 THEN CAST(SWITCHOFFSET(TRY_CONVERT(datetimeoffset(7), JSON_VALUE({headers}, '$."pawl-expires"'), 127), 0) AS datetime2(7)) END
