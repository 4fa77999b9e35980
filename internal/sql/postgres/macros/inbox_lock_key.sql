-- inbox_lock_key(source, message)
-- The advisory lock of a message of the inbox.
pg_catalog.hashtextextended('pawl.inbox' || pg_catalog.length({source}) || '/' || {source} || {message}, 0)
