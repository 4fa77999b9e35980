-- print(e)
-- The fingerprint of an exception's error. Of one that no Go program recorded it is the beginning.
coalesce({e}.fingerprint, LEFT({e}.last_error, 200))
