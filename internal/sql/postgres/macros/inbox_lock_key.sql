-- inbox_lock_key(source, message)
-- The advisory lock of a message of the inbox.
pawl.lock_key(pg_catalog.concat('pawl.inbox', pg_catalog.length({source}), '/', {source}, {message}))
