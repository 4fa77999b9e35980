-- Where a list of messages that looks at so many stops: no row if there are no more. ?1 now, ?2 below this id, ?3 how many.
SELECT id FROM pawl.outbox_message WHERE id < ?2 ORDER BY id DESC LIMIT 1 OFFSET ?3 - 1
