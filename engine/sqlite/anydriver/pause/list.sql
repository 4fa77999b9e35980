-- What is paused. ?1 now.
SELECT kind, name, at, actor, reason, ending FROM pawl.outbox_pause ORDER BY kind, name
