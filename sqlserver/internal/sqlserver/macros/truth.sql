-- truth(condition)
CAST(CASE WHEN {condition} THEN 1 ELSE 0 END AS bit)
