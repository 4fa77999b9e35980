-- overdue(join)
{join}.status = 0 AND coalesce({join}.deadline_utc <= @now, false)
