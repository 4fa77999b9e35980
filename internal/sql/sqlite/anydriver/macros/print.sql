-- print(e)
-- The fingerprint of an exception's error. Of one that an older program recorded it is the beginning.
coalesce({e}.fingerprint, substr({e}.last_error, 1, 200))
