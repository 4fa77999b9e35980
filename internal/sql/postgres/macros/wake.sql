-- wake(queue)
-- Notify a sleeping worker of a queue; always true. Statements that enqueue one message have
-- it without the routine outbox_wake, whose call takes a fifth of their time.
(pg_catalog.pg_try_advisory_xact_lock_shared(pg_catalog.hashtextextended('pawl.outbox_wake/' || {queue}, 0))
  OR pg_catalog.pg_notify('pawl_' || pg_catalog.left(pg_catalog.md5('pawl.outbox_wake'), 16), {queue}) IS NOT NULL)
