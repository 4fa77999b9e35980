-- wake(queue)
-- What pawl.outbox_wake does for one queue, without a call of a routine: that took a fifth of
-- the statement that enqueues one message. Always true.
(pg_catalog.pg_try_advisory_xact_lock_shared(pg_catalog.hashtextextended('pawl.outbox_wake/' || {queue}, 0))
  OR pg_catalog.pg_notify('pawl_' || pg_catalog.left(pg_catalog.md5('pawl.outbox_wake'), 16), {queue}) IS NOT NULL)
