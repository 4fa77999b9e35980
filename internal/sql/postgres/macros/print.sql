-- print(e)
-- The fingerprint of an exception's error.
coalesce({e}.fingerprint, pawl.plain_print({e}.last_error))
