-- overdue(join)
CAST(CASE WHEN {join}.status = 0 AND {join}.deadline_utc <= @now THEN 1 ELSE 0 END AS bit)
