-- Where a list of failed or discarded ones that looks at so many stops: no row if there are no more. ?1 now, ?2 below this id, ?3 how many, ?4 status.
SELECT id FROM pawl.outbox_exception WHERE status = ?4 AND status >= 3 AND id < ?2 ORDER BY id DESC LIMIT 1 OFFSET ?3 - 1
