-- inbox_lock_key(source, message)
-- The advisory lock of a message of the inbox, without operators, which the search path of a
-- statement might find elsewhere.
pg_catalog.hashtextextended(pg_catalog.concat('pawl.inbox', pg_catalog.length({source}), '/', {source}, {message}), 0)
