-- print(e)
-- The fingerprint of an exception's error. Of one that no Go program recorded it is the text without its
-- numbers.
coalesce({e}.fingerprint, left(regexp_replace({e}.last_error, '[0-9]+', '#', 'g'), 200))
